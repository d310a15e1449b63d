import { execFile } from 'node:child_process';

// Runs the checks of package.json side by side, because each leaves a core idle for some of its time. The output of a
// check appears in one piece, when the check ends.

const CHECKS = ['lint', 'types', 'generated', 'format'];

const passed = await Promise.all(CHECKS.map(hasPassed));
process.exitCode = passed.every(Boolean) ? 0 : 1;

function hasPassed(name) {
  return new Promise((resolve) => {
    const command = ['run', '--silent', `check:${name}`];
    execFile('npm', command, { maxBuffer: Number.POSITIVE_INFINITY }, (error, output, errors) => {
      console.log(
        `${error === null ? 'passed' : 'FAILED'}: npm run check:${name}\n${output}${errors}`.trim(),
      );
      resolve(error === null);
    });
  });
}
