import { expect } from 'chai';
import { pathToFileURL } from 'node:url';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke, Screen } from '../invoke.js';
import { HeldRegistry, RUNNING, TWO_TASKS } from './held-registry.js';

const HINTS = [
  '  hint: --verbose prints every event, whole inputs and stacks; --partial prints the outputs of what succeeded',
  '  hint: a run that is kept can be looked at, and rerun from where it failed: run without --no-store, in CI with --store FOLDER',
];

describe('run of a failing pipeline', () => {
  const folder = new TemporaryFolder();
  after(() => folder.remove());

  const at = (argv: readonly string[], options = {}) => invoke(argv, { cwd: folder.path, ...options });

  const runHeld = (registry: HeldRegistry, ...flags: string[]) =>
    at(['run', '-', ...flags], { input: TWO_TASKS, openRegistry: async () => registry });

  describe('exits with 3', () => {
    const FAILING = `id: failing
goal: g
tasks:
  - {id: fine, tool: transform, inputs: {input: 0, expression: "[1..3]"}}
  - {id: each, tool: own, parallel_over: "{{fine.output}}", inputs: {n: "{{item}}"}, retry: 1}
  - {id: also_fine, tool: mock, await: [fine]}
  - {id: never, tool: mock, await: [each]}
`;
    /** Fails for one item, once all three have begun. */
    const OWN = `const runs = new Map();
export default {
  name: "own", inputs: { n: {} },
  async run({ n }, { run_id: id }) {
    const run = runs.get(id) ?? { begun: 0 };
    runs.set(id, run);
    run.all ??= new Promise((resolve) => { run.resolve = resolve; });
    if (++run.begun === 3) run.resolve();
    await run.all;
    if (n === 2) throw new Error("no\\n\\u001b[2Jtwos");
    return n;
  },
};
`;
    const flags = ['--tools', './own.mjs', '--retry-base-delay', '0'];
    before(() => {
      folder.write('failing.yaml', FAILING);
      folder.write('own.mjs', OWN);
    });

    it('and prints each failure with item, attempts and error, and which tasks succeeded or were skipped', async () => {
      const { status, stdout, stderr } = await at(['run', 'failing.yaml', ...flags]);
      expect(status).to.equal(3);
      expect(stdout).to.equal('');
      const [summary, ...rest] = stderr.split('\n');
      expect(summary).to.match(/^✗ failed in .*: 2 of 3 waves, 5 invocations$/);
      expect(rest).to.deep.equal([
        '  1 call needed another attempt: each[1] (2 attempts)',
        '  each[1] after 2 attempts: no',
        '    twos',
        '    inputs: {"n": 2}',
        `    at Object.run (${pathToFileURL(folder.at('own.mjs')).href}:10:24)`,
        '  succeeded: fine, also_fine',
        '  skipped: never',
        ...HINTS,
        '',
      ]);
    });

    it('and prints status, failures with inputs and the outputs that there are as JSON with --json (D59)', async () => {
      const { status, stdout, stderr } = await at(['run', 'failing.yaml', ...flags, '--json']);
      expect(status).to.equal(3);
      const error = 'no\n\u001b[2Jtwos';
      const mock = { status: 'success', message: 'Mock tool executed', inputs: {}, call_count: 1 };
      expect(JSON.parse(stdout)).to.deep.equal({
        status: 'failed',
        error,
        failures: [{ task_id: 'each', item: 1, attempts: 2, error, inputs: { n: 2 } }],
        // Of the fan-out, what its items gave that did not fail.
        outputs: { fine: [1, 2, 3], each: [1, null, 3], also_fine: mock },
      });
      expect(stderr).to.contain('each[1] after 2 attempts');
    });

    it('and prints the stacks of its failures as JSON with --json and --verbose (D59)', async () => {
      const { stdout } = await at(['run', 'failing.yaml', ...flags, '--json', '--verbose']);
      const { failures }: { failures: { stack: string }[] } = JSON.parse(stdout);
      expect(failures[0]?.stack).to.match(/^Error: no\n[^]*\n {4}at Object\.run \(file:.*own\.mjs:10:24\)/);
    });

    it('and prints the inputs of the first ten failures whole with --json (D59)', async () => {
      const text = 'x'.repeat(70_000);
      const tasks = Array.from({ length: 12 }, (_, n) => {
        return `{id: t${n}, tool: fail, inputs: {message: "no ${n} ${text}"}}`;
      });
      const input = `id: many\ngoal: g\ntasks: [${tasks.join(', ')}]\n`;
      const { stdout } = await at(['run', '-', '--json'], { input });
      const { failures }: { failures: { inputs?: { message: string } }[] } = JSON.parse(stdout);
      const lengths = failures.map(({ inputs }) => inputs?.message.length);
      expect(lengths).to.deep.equal([
        ...Array.from({ length: 10 }, () => text.length + 5),
        undefined,
        undefined,
      ]);
    });

    it('and prints those outputs as text with --partial (D59)', async () => {
      const { status, stdout } = await at(['run', 'failing.yaml', ...flags, '--partial']);
      expect(status).to.equal(3);
      expect(stdout).to.match(/^Outputs:\n {2}fine: \[1, 2, 3\]\n {2}each: \[1, null, 3\]\n {2}also_fine: /);
      expect(stdout).not.to.contain('Stats');
    });

    it('and prints the whole stack with --verbose, and with WAVETRAIN_DEBUG=1, without a hint to do so (D59)', async () => {
      const { stderr } = await at(['run', 'failing.yaml', ...flags, '--verbose']);
      const debug = await at(['run', 'failing.yaml', ...flags], { env: { WAVETRAIN_DEBUG: '1' } });
      for (const text of [stderr, debug.stderr]) {
        expect(text)
          .to.contain('    inputs: {"n": 2}\n    Error: no\n')
          .and.to.match(/^ {8}at Object\.run \(file:.*own\.mjs:10:24\)$/m)
          .and.to.contain('hint: --partial prints')
          .and.not.to.contain('--verbose prints');
      }
    });

    it('and prints the inputs of the first ten failures only, and cuts long ones unless --verbose is set', async () => {
      const tasks = Array.from({ length: 12 }, (_, n) => {
        return `{id: each_${n}, tool: fail, inputs: {message: "no ${n} ${'x'.repeat(900)}"}}`;
      });
      const input = `id: many\ngoal: g\ntasks: [${tasks.join(', ')}]\n`;
      const { stderr } = await at(['run', '-'], { input });
      expect(stderr.match(/^ {2}each_\d+ after/gm)).to.have.length(12);
      const inputs = stderr.split('\n').filter((line) => /^ {6}message: /.test(line));
      expect(inputs).to.have.length(10);
      for (const line of inputs) expect(line).to.have.length(400).and.to.match(/x…$/);
      const verbose = await at(['run', '-', '--verbose'], { input });
      expect(verbose.stderr).to.match(/^ {6}message: "no 1 x{900}"$/m);
    });

    it('and prints its failures with --json even when its outputs cannot be read', async () => {
      const registry = new HeldRegistry();
      registry.tasks = () => Promise.reject(new Error('the server is gone'));
      const end = { settled: true, status: 'failed', error: 'no luck' } as const;
      registry.end.resolve({ ...RUNNING, ...end });
      const { status, stdout, stderr } = await runHeld(registry, '--json');
      expect(status).to.equal(3);
      expect(JSON.parse(stdout)).to.deep.equal({
        status: 'failed',
        error: 'no luck',
        failures: [],
        outputs: {},
      });
      expect(stderr).to.contain('  no luck\n  its values cannot be read: the server is gone\n');
    });

    it('and wraps errors at words on a narrow terminal, and cuts inputs to its width', async () => {
      const input = `id: wide
goal: g
tasks: [{id: boom, tool: fail, inputs: {message: "${'again and again '.repeat(9).trim()}"}}]
`;
      for (const columns of [34, 60]) {
        const screen = { stdout: new Screen(columns), stderr: new Screen(columns) };
        const { stderr } = await at(['run', '-'], { input, ...screen, env: { NO_COLOR: '1', CI: '1' } });
        // The place where a tool threw stays on one line, to be clicked.
        const lines = stderr.split('\n').filter((line) => !line.startsWith('    at '));
        for (const line of lines) expect(line.length, line).to.be.below(columns);
        expect(stderr.replaceAll(/\n {4}(?=again|and)/g, ' ')).to.contain(
          `boom after 1 attempt: ${'again and again '.repeat(9).trim()}\n`,
        );
      }
    });

    it('and says why when what failed cannot be inspected', async () => {
      const registry = new HeldRegistry();
      const failures = [{ task_id: 'a', error: 'no luck', attempts: 1 }];
      const end = { settled: true, status: 'failed', error: 'no luck', failures } as const;
      registry.end.resolve({ ...RUNNING, ...end });
      const { stderr } = await runHeld(registry);
      expect(stderr).to.contain(
        '  a after 1 attempt: no luck\n  its values cannot be read: run r1 has no such task\n',
      );
    });

    it('and prints the error of a run that failed without a failed task', async () => {
      const registry = new HeldRegistry();
      const progress = { ...RUNNING.progress, waves_executed: 1, tasks_settled: 1 };
      const end = { settled: true, finished_at: RUNNING.started_at, error: 'the journal is\nfull', progress };
      registry.end.resolve({ ...RUNNING, ...end, status: 'failed' });
      const { status, stdout, stderr } = await runHeld(registry);
      expect({ status, stdout }).to.deep.equal({ status: 3, stdout: '' });
      expect(stderr.split('\n')).to.deep.equal([
        '✗ failed in 0 ms: 1 of 2 waves, 1 invocation',
        '  the journal is full',
        '  succeeded: a',
        '  skipped: b',
        ...HINTS,
        '',
      ]);
    });

    it('and shows the last lines of a program as lines', async () => {
      const script = 'echo first >&2; printf "second \\033[31mred\\n" >&2; exit 3';
      const task = `{id: a, tool: command, inputs: {shell: sh, script: '${script}'}}`;
      const { stderr } = await at(['run', '-', '--allow-commands'], {
        input: `id: t\ngoal: g\ntasks: [${task}]\n`,
      });
      expect(stderr).to.contain(
        'a after 1 attempt: sh ended with status 3; the last lines were:\n    first\n    second red\n',
      );
    });

    it('and suggests a larger --timeout after a timeout', async () => {
      const input = 'id: t\ngoal: g\ntasks: [{id: a, tool: sleep, inputs: {seconds: 60}}]\n';
      const { status, stderr } = await at(['run', '-', '--timeout', '0.01'], { input });
      expect(status).to.equal(3);
      expect(stderr)
        .to.contain('a after 1 attempt: timed out after 0.01 s')
        .and.to.contain('hint: a larger --timeout')
        .and.to.contain('in CI with --store FOLDER');
    });
  });
});
