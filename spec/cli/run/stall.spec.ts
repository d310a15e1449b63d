import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { TemporaryFolder } from '../../support/temporary-folder.js';

describe('a run whose tool never settles', () => {
  it('ends with a sentence when nothing is left that could settle it', () => {
    const folder = new TemporaryFolder();
    const tool = `export default { name: 'never', description: 'never settles', inputs: {}, run: () => new Promise(() => {}) };`;
    folder.write('tools.mjs', tool);
    folder.write(
      'p.yaml',
      'pipeline: {id: p, goal: g, tasks: [{id: a, tool: never}, {id: b, tool: mock, await: [a]}]}',
    );
    const command = [`${process.cwd()}/bin/wavetrain.js`, 'run', 'p.yaml', '--tools', './tools.mjs'];
    const { status, stdout, stderr } = spawnSync(process.execPath, command, {
      cwd: folder.path,
      encoding: 'utf8',
      timeout: 20_000,
    });
    folder.remove();
    expect(stderr).to.equal(
      'wavetrain: the run can never settle: a tool waits for what nothing is left to bring\n',
    );
    expect({ status, stdout }).to.deep.equal({ status: 3, stdout: '' });
  });
});
