import { expect } from 'chai';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke } from '../invoke.js';
import { HeldRegistry, RUNNING } from './held-registry.js';

describe('run of a failing pipeline', () => {
  let folder: TemporaryFolder;
  before(() => {
    folder = new TemporaryFolder();
  });
  after(() => folder.remove());

  const at = (argv: readonly string[], options = {}) => invoke(argv, { cwd: folder.path, ...options });

  describe('exits with 3', () => {
    const FAILING = `id: failing
goal: g
tasks:
  - {id: fine, tool: transform, inputs: {input: 0, expression: "[1..3]"}}
  - {id: each, tool: own, parallel_over: "{{fine.output}}", inputs: {n: "{{item}}"}, retry: 1}
  - {id: also_fine, tool: mock, await: [fine]}
  - {id: never, tool: mock, await: [each]}
`;
    const OWN =
      'export default { name: "own", inputs: { n: {} }, run({ n }) { if (n === 2) throw new Error("no\\n\\u001b[2Jtwos"); return n; } };';
    const flags = ['--tools', './own.mjs', '--retry-base-delay', '0'];
    before(() => {
      folder.write('failing.yaml', FAILING);
      folder.write('own.mjs', OWN);
    });

    it('and prints each failure with item, attempts and error, and which tasks succeeded or never started', async () => {
      const { status, stdout, stderr } = await at(['run', 'failing.yaml', ...flags]);
      expect(status).to.equal(3);
      expect(stdout).to.equal('');
      const [summary, ...rest] = stderr.split('\n');
      expect(summary).to.match(/^✗ failed in .*: 2 of 3 waves, 5 invocations$/);
      expect(rest).to.deep.equal([
        '  each[1] after 2 attempts: no twos',
        '  succeeded: fine, also_fine',
        '  not started: never',
        '  hint: --verbose prints every event as it happens, --events FILE writes them to a file',
        '',
      ]);
    });

    it('and prints nothing on standard output, even with --json', async () => {
      const { status, stdout, stderr } = await at(['run', 'failing.yaml', ...flags, '--json']);
      expect(status).to.equal(3);
      expect(stdout).to.equal('');
      expect(stderr).to.contain('each[1] after 2 attempts');
    });

    it('and prints the error of a run that failed without a failed task', async () => {
      const registry = new HeldRegistry();
      const progress = { ...RUNNING.progress, waves_executed: 1, tasks_settled: 1 };
      const end = { settled: true, finished_at: RUNNING.started_at, error: 'the journal is\nfull', progress };
      registry.end.resolve({ ...RUNNING, ...end, status: 'failed' });
      const input = 'id: p\ngoal: g\ntasks: [{id: a, tool: mock}, {id: b, tool: mock, await: [a]}]\n';
      const { status, stdout, stderr } = await at(['run', '-'], {
        input,
        openRegistry: async () => registry,
      });
      expect({ status, stdout }).to.deep.equal({ status: 3, stdout: '' });
      expect(stderr.split('\n')).to.deep.equal([
        '✗ failed in 0 ms: 1 of 2 waves, 1 invocation',
        '  the journal is full',
        '  succeeded: a',
        '  not started: b',
        '  hint: --verbose prints every event as it happens, --events FILE writes them to a file',
        '',
      ]);
    });

    it('and suggests a larger --timeout after a timeout', async () => {
      const input = 'id: t\ngoal: g\ntasks: [{id: a, tool: sleep, inputs: {seconds: 60}}]\n';
      const { status, stderr } = await at(['run', '-', '--timeout', '0.01'], { input });
      expect(status).to.equal(3);
      expect(stderr)
        .to.contain('a after 1 attempt: timed out after 0.01 s')
        .and.to.contain('hint: a larger --timeout');
    });
  });
});
