import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import { ControlledTool } from '../../support/controlled-tool.js';
import { settle } from '../../support/deferred.js';
import { renderScreen } from '../../support/screen.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { type Invocation, invoke, type InvokeOptions, Recorder, Screen } from '../invoke.js';
import { type RunsServer, runsServer } from '../runs/runs-server.js';
import { GREET, NAME } from '../../support/definitions/greet.js';

const FAILING = `id: failing
goal: g
tasks:
  - {id: first, tool: mock}
  - {id: second, tool: fail, await: [first], inputs: {message: no luck}}
  - {id: third, tool: mock, await: [second]}
`;
const HELD = '{id: held, goal: hold, tasks: [{id: a, tool: controlled}]}';
const PLAN = `plan:
  id: quarterly
  sub_pipelines:
    - {id: ingest, stores: [k], file: parts/ingest.yaml}
    - {id: report, reads: [k], stores: [l]}
`;
const INGEST = 'id: i\ngoal: g\ntasks: [{id: keep, tool: store, inputs: {key: k, value: 7}}]\n';
const REPORT = 'id: r\ngoal: g\ntasks: [{id: l, tool: store, inputs: {key: l, value: "{{session.k}}"}}]\n';

describe('run --server', () => {
  let server: RunsServer;
  let controlled: ControlledTool;
  let folder: TemporaryFolder;
  beforeEach(async () => {
    controlled = new ControlledTool();
    server = await runsServer({ tools: [controlled.tool] });
    folder = new TemporaryFolder();
    folder.write('greet.yaml', GREET);
    folder.write('failing.yaml', FAILING);
    folder.write('held.yaml', HELD);
    folder.write('plan.yaml', PLAN);
    folder.write('parts/ingest.yaml', INGEST);
    folder.write('report.yaml', REPORT);
  });
  afterEach(async () => {
    await server.close(0);
    folder.remove();
  });

  const here = (argv: readonly string[], options: InvokeOptions = {}): Promise<Invocation> =>
    invoke(['run', ...argv], { cwd: folder.path, ...options });
  const there = (argv: readonly string[], options: InvokeOptions = {}): Promise<Invocation> =>
    here([...argv, '--server', server.url], options);

  it('prints what run prints, and the run id', async () => {
    const local = await here(['greet.yaml', ...NAME]);
    const remote = await there(['greet.yaml', ...NAME]);
    expect(remote).to.include({ status: 0, stdout: local.stdout });
    expect(remote.stderr).to.match(/^submitted [0-9a-f-]{36}\n$/);
    const json = await there(['greet.yaml', ...NAME, '--json']);
    expect({ ...json, stdout: JSON.parse(json.stdout) as unknown }).to.deep.equal({
      status: 0,
      stdout: JSON.parse((await here(['greet.yaml', ...NAME, '--json'])).stdout) as unknown,
      stderr: '',
    });
  });

  it('draws the progress that run draws, and its end', async () => {
    const drawn = async (run: typeof here, file: string): Promise<string[]> => {
      const stderr = new Screen(100);
      const env = { TERM: 'xterm', NO_COLOR: '1' };
      await run([file, ...(file === 'greet.yaml' ? NAME : [])], { stderr, env });
      const lines = renderScreen(stderr.text)
        .replaceAll(/[\d.,]+ m?s\b/g, 'TIME')
        .split('\n');
      return lines.filter((line) => !/^submitted |hint: |^ {4}/.test(line));
    };
    for (const file of ['greet.yaml', 'failing.yaml', 'plan.yaml']) {
      const lines = await drawn(there, file);
      expect(lines, file).to.deep.equal(await drawn(here, file));
      expect(lines.length, file).to.be.above(3);
    }
  });

  it('exits with 3 for a run that fails, names its tasks and the command that reruns it (D40)', async () => {
    const { status, stdout, stderr } = await there(['failing.yaml']);
    expect({ status, stdout }).to.deep.equal({ status: 3, stdout: '' });
    const [, runId = ''] = /^submitted (.*)$/m.exec(stderr) ?? [];
    expect(stderr)
      .to.contain('  second after 1 attempt: no luck\n')
      .and.to.contain('  succeeded: first\n  skipped: third\n')
      .and.to.contain(`  hint: wavetrain runs rerun ${runId} --from failed --server ${server.url}\n`);
  });

  it('prints the failures of a run that fails with their inputs as JSON with --json, as run does (D59)', async () => {
    const { status, stdout } = await there(['failing.yaml', '--json']);
    expect(status).to.equal(3);
    const { failures }: { failures: object[] } = JSON.parse(stdout);
    expect(failures[0]).to.deep.include({ task_id: 'second', inputs: { message: 'no luck', times: null } });
    expect(JSON.parse((await here(['failing.yaml', '--json'])).stdout)).to.deep.include({ failures });
  });

  it('passes on params, inputs, session, tenant and options', async () => {
    const input =
      'id: p\ngoal: g\nparams: {n: {type: integer}}\ninputs: {a: 1}\ntasks: [{id: t, tool: sleep, inputs: {seconds: 0, value: ["{{params.n}}", "{{inputs.a}}", "{{session.s}}"]}}]\n'.replace(
        '{{inputs.a}}',
        '{{pipeline.inputs.a}}',
      );
    const flags = ['--params', '{"n": "3"}', '--inputs', '{"a": 2}', '--session', '{"s": 4}'];
    const { stdout, stderr } = await there(['-', ...flags, '--tenant', 'acme', '--timeout', '9'], { input });
    expect(stdout, stderr).to.contain('t: [3, 2, 4]');
    const { runs } = (await server.request<{ runs: object[] }>('GET', '/pipelines/runs')).body;
    expect(runs[0]).to.include({ tenant_id: 'acme' });
  });

  it('shows the problems that the server finds, with their lines, and exits with 1', async () => {
    folder.write('typo.yaml', 'id: p\ngoal: g\ntasks:\n  - {id: a, tool: controled}\n');
    const { status, stdout, stderr } = await there(['typo.yaml']);
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    expect(stderr)
      .to.contain(
        'typo.yaml:4:19 error: there is no tool "controled"\n    4 |   - {id: a, tool: controled}\n',
      )
      .and.to.contain('did you mean "controlled"?')
      .and.to.contain('typo.yaml is not valid');
  });

  it('says of a tool that the server does not have how to give it to the server', async () => {
    folder.write('own.yaml', 'id: p\ngoal: g\ntasks:\n  - {id: a, tool: fetch_reports}\n');
    const { status, stderr } = await there(['own.yaml']);
    expect(status).to.equal(1);
    expect(stderr)
      .to.contain('hint: the server has no such tool: GET /pipelines/tools lists its tools; ')
      .and.to.contain('wavetrain serve --tools FILE adds your own')
      .and.not.to.contain('wavetrain tools');
    expect((await here(['own.yaml'])).stderr).to.contain('hint: `wavetrain tools` lists them');
  });

  it('explains a missing param as run does, before anything is submitted', async () => {
    const local = await here(['greet.yaml', '--params', '{"times": "many"}']);
    const remote = await there(['greet.yaml', '--params', '{"times": "many"}']);
    const stderr = local.stderr.replace('greet.yaml', `greet.yaml --server ${server.url}`);
    expect(remote).to.deep.equal({ status: 2, stdout: '', stderr });
  });

  it('runs a plan, whose pipelines it reads from their files and sends', async () => {
    const { status, stdout } = await there(['plan.yaml']);
    expect(status).to.equal(0);
    expect(stdout)
      .to.equal((await here(['plan.yaml'])).stdout)
      .and.to.contain('Blackboard:\n  k: 7\n');
  });

  it('names the file of a problem in a pipeline of a plan, and one that is missing', async () => {
    folder.write('parts/ingest.yaml', INGEST.replace('tool: store', 'tool: stor'));
    const wrong = await there(['plan.yaml']);
    expect(wrong.status).to.equal(1);
    expect(wrong.stderr).to.match(/^parts\/ingest\.yaml:3:\d+ error: there is no tool "stor"$/m);
    expect(wrong.stderr).to.equal((await here(['plan.yaml'])).stderr);
    folder.write('plan.yaml', PLAN.replace('id: report', 'id: reports'));
    const missing = await there(['plan.yaml']);
    expect(missing.status).to.equal(1);
    expect(missing.stderr).to.contain('sub-pipeline "reports" has no "file"').and.to.contain('"file"');
  });

  it('sends a text that is too long for YAML as JSON', async () => {
    const comment = `# ${'x'.repeat(300 * 1024)}\n`;
    folder.write('long.yaml', comment + GREET);
    expect((await there(['long.yaml', ...NAME])).status).to.equal(0);
    folder.write('parts/ingest.yaml', comment + INGEST);
    expect((await there(['plan.yaml'])).status).to.equal(0);
  });

  it('refuses --tools, because a server has its own', async () => {
    const { status, stderr } = await there(['greet.yaml', '--tools', 'tools.ts']);
    expect(status).to.equal(2);
    expect(stderr)
      .to.contain('--tools does not go with --server')
      .and.to.contain('wavetrain serve --tools FILE')
      .and.to.contain('SERVICE_TOOLS');
  });

  it('exits with 3 and names the server when it is unreachable', async () => {
    const { status, stderr } = await here(['greet.yaml', ...NAME, '--server', 'http://127.0.0.1:1']);
    expect(status).to.equal(3);
    expect(stderr).to.contain('cannot reach a server at http://127.0.0.1:1');
  });

  describe('on Ctrl-C', () => {
    /** Starts a run of the controlled tool and waits until its events arrive. */
    async function started(processEvents: EventEmitter): Promise<{ ended: Promise<Invocation> }> {
      const stderr = new Recorder();
      const hasStarted = new Promise<void>((resolve) => {
        stderr.on('data', () => stderr.text.includes('a started') && resolve());
      });
      const ended = there(['held.yaml', '--verbose'], { stderr, processEvents });
      await hasStarted;
      return { ended };
    }

    it('cancels the run on the server once its wave has settled, and exits with 130 (D40)', async () => {
      const processEvents = new EventEmitter();
      const { ended } = await started(processEvents);
      processEvents.emit('SIGINT');
      const run_id = server.registry.list({ limit: 1 }).runs[0]?.run_id ?? '';
      while (server.registry.record(run_id).status === 'running') await settle(1);
      await controlled.returns(1);
      const { status, stderr } = await ended;
      expect(status).to.equal(130);
      expect(stderr)
        .to.contain('cancelling: the current wave finishes first')
        .and.to.match(/cancelled in /);
      expect(server.registry.record(run_id)).to.include({ status: 'cancelled', settled: true });
      expect(processEvents.eventNames()).to.deep.equal([]);
    });

    it('stops the tools on the second one, without waiting for them (D21)', async () => {
      const processEvents = new EventEmitter();
      const { ended } = await started(processEvents);
      processEvents.emit('SIGINT');
      processEvents.emit('SIGINT');
      const { status, stderr } = await ended;
      expect(status).to.equal(130);
      expect(stderr).to.contain('stopping at once');
      const run_id = server.registry.list({ limit: 1 }).runs[0]?.run_id ?? '';
      expect((await server.registry.settled(run_id)).status).to.equal('cancelled');
    });
  });
});
