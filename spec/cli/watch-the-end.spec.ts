import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { TemporaryFolder } from '../support/temporary-folder.js';

const WAITS =
  'wavetrain: a tool or a tool file waits for what nothing is left to bring, so this can never end\n';
const ENDED = 'wavetrain: a tool or a tool file ended the process, and the run with it\n';

describe('a run that does not come to its own end', () => {
  const cases: [string, string, string][] = [
    [
      'whose tool never settles, with nothing left that could settle it',
      'run: () => new Promise(() => {}) };',
      WAITS,
    ],
    ['whose tool file waits for ever', 'run: () => 1 }; await new Promise(() => {});', WAITS],
    ['whose tool ends the process', 'run: () => process.exit(0) };', ENDED],
    ['whose tool file ends the process', 'run: () => 1 }; process.exit(0);', ENDED],
  ];
  for (const [title, rest, said] of cases) {
    it(`${title}, is told and fails`, () => {
      const folder = new TemporaryFolder();
      folder.write('tools.mjs', `export default { name: 'odd', description: 'is odd', inputs: {}, ${rest}`);
      folder.write(
        'p.yaml',
        'pipeline: {id: p, goal: g, tasks: [{id: a, tool: odd}, {id: b, tool: mock, await: [a]}]}',
      );
      const command = [
        `${process.cwd()}/bin/wavetrain.js`,
        'run',
        'p.yaml',
        '--tools',
        './tools.mjs',
        '--json',
      ];
      const { status, stdout, stderr } = spawnSync(process.execPath, command, {
        cwd: folder.path,
        encoding: 'utf8',
        timeout: 20_000,
      });
      folder.remove();
      expect({ status, stdout, stderr }).to.deep.equal({ status: 3, stdout: '', stderr: said });
    });
  }
});
