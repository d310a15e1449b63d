import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { requireBuild, ROOT } from '../../../project/files.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';

/** As where optional packages were left out. */
const HIDE = `const Module = require('node:module');
const { _resolveFilename: find } = Module;
Module._resolveFilename = function (name, ...others) {
  if (name !== 'libsql') return find.call(this, name, ...others);
  throw Object.assign(new Error('Cannot find module'), { code: 'MODULE_NOT_FOUND' });
};
`;

describe('the history of the shell: without the package libsql (D68)', () => {
  before(() => requireBuild());
  let folder: TemporaryFolder;

  beforeEach(() => {
    folder = new TemporaryFolder();
    folder.write('hide.cjs', HIDE);
    folder.write('p.yaml', 'id: p\ngoal: g\ntasks: [{id: a, tool: mock}, {id: b, tool: mock, await: [a]}]\n');
  });
  afterEach(() => folder.remove());

  function run(...argv: string[]) {
    const command = ['--require', folder.at('hide.cjs'), join(ROOT, 'bin/wavetrain.js'), ...argv];
    return spawnSync(process.execPath, command, {
      cwd: folder.path,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: folder.path },
    });
  }

  it('run says so once, and goes on', () => {
    const { status, stdout, stderr } = run('run', 'p.yaml', '--json');
    expect(status, stderr).to.equal(0);
    expect(JSON.parse(stdout)).to.have.keys('a', 'b');
    expect(stderr).to.match(/^wavetrain: the history lacks this run: .*\n$/);
    expect(stderr).to.contain('npm install libsql');
    expect(existsSync(folder.at('.wavetrain'))).to.equal(false);
    expect(run('run', 'p.yaml', '--no-store').stderr).to.equal('');
  });

  it('commands that look at runs say what to install', () => {
    const { status, stderr } = run('rerun');
    expect(status).to.equal(2);
    expect(stderr).to.contain('the history of the shell needs the package libsql: install it with');
  });
});
