import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { TemporaryFolder } from '../support/temporary-folder.js';

const WAITING =
  'wavetrain: a tool or a tool file is waiting for something that can no longer happen (the event loop is empty); stopping\n';
const EXITED = 'wavetrain: a tool or a tool file exited the process before the run was done\n';

describe('a command whose process exits before it is done (guardProcessExit)', () => {
  const cases: [string, string, string][] = [
    [
      'because a tool never settles and the event loop is empty',
      'run: () => new Promise(() => {}) };',
      WAITING,
    ],
    ['because a tool file never finishes loading', 'run: () => 1 }; await new Promise(() => {});', WAITING],
    ['because a tool exits the process', 'run: () => process.exit(0) };', EXITED],
    ['because a tool file exits the process', 'run: () => 1 }; process.exit(0);', EXITED],
  ];
  for (const [title, rest, message] of cases) {
    it(`prints the reason and fails with 3 ${title}`, () => {
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
      expect({ status, stdout, stderr }).to.deep.equal({ status: 3, stdout: '', stderr: message });
    });
  }
});
