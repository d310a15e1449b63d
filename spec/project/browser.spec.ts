import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { filesBelow, requireBuild, ROOT } from './files.js';

interface Report {
  readonly stats: { readonly passes: number; readonly pending: number };
  readonly failures: readonly {
    readonly fullTitle: string;
    readonly err: { readonly stack?: string; readonly actual?: string };
  }[];
}

/**
 * Runs each browser spec in a child process: Playwright turns on Node's async hooks, and with these a vm sandbox that
 * times out ends its process.
 */
describe('The browser specs', function () {
  this.timeout(900_000);

  before(() => requireBuild());

  const files = ['spec/project/browser', 'spec/web/browser'].flatMap((folder) => filesBelow(folder, '.ts'));
  for (const file of files) {
    it(`${file} passes`, async function () {
      const report = await run(file);
      const failures = report.failures.map(({ fullTitle, err }) =>
        [fullTitle, err.stack, err.actual].filter(Boolean).join('\n'),
      );
      expect(failures.join('\n\n')).to.equal('');
      if (report.stats.passes === 0) this.skip();
    });
  }
});

async function run(file: string): Promise<Report> {
  const mocha = [
    'node_modules/mocha/bin/mocha.js',
    '--no-config',
    '--import=tsx',
    '--reporter',
    'json',
    file,
  ];
  const child = spawn(process.execPath, mocha, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  for await (const chunk of child.stdout) output += String(chunk);
  const start = output.indexOf('{\n  "stats"');
  expect(start, `no report: ${output}`).to.be.at.least(0);
  return JSON.parse(output.slice(start)) as Report;
}
