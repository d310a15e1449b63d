import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow, requireBuild, ROOT } from '../files.js';

const FOLDER = 'spec/web/browser';

/** The modules that the browser specs import; every other folder beside them holds specs. */
const SUPPORT = 'support';

interface Result {
  readonly file: string;
  readonly fullTitle: string;
  readonly err: { readonly stack?: string; readonly actual?: string };
}

interface Report {
  readonly passes: readonly Result[];
  readonly failures: readonly Result[];
}

/** The folders of browser specs: each has a spec file of its name in this folder. */
export function browserFolders(): string[] {
  return readdirSync(join(ROOT, FOLDER))
    .filter((name) => name !== SUPPORT)
    .sort();
}

/**
 * Runs the browser specs of a folder in one child process with one Chromium: Playwright turns on Node's async hooks,
 * and with these a vm sandbox that times out ends its process.
 */
export function describeBrowserSpecs(folder: string): void {
  describe(`The browser specs of ${folder}`, function () {
    this.timeout(900_000);
    const files = filesBelow(`${FOLDER}/${folder}`, '.ts');
    let report: Report;

    before(async () => {
      requireBuild();
      report = await run(files);
    });

    for (const file of files) {
      it(`${file} passes`, function () {
        const failures = report.failures
          .filter((failure) => isOf(failure, file))
          .map(({ fullTitle, err }) => [fullTitle, err.stack, err.actual].filter(Boolean).join('\n'));
        expect(failures.join('\n\n')).to.equal('');
        if (!report.passes.some((pass) => isOf(pass, file))) this.skip();
      });
    }

    it('have no failure outside their files', () => {
      const others = report.failures.filter((failure) => !files.some((file) => isOf(failure, file)));
      expect(others).to.deep.equal([]);
    });
  });
}

function isOf(result: Result, file: string): boolean {
  return result.file === join(ROOT, file);
}

async function run(files: readonly string[]): Promise<Report> {
  const mocha = ['node_modules/mocha/bin/mocha.js', '--no-config', '--import=tsx', '--reporter', 'json'];
  const child = spawn(process.execPath, [...mocha, ...files], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const chunk of child.stdout) output += String(chunk);
  const start = output.indexOf('{\n  "stats"');
  expect(start, `no report: ${output}`).to.be.at.least(0);
  return JSON.parse(output.slice(start)) as Report;
}
