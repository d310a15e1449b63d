import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { RunResult } from '../../../lib/execution/results.js';
import type { RunPage } from '../../../lib/runs/views/run-listing.js';
import { type TestResponse, startTestServer, type TestServer } from '../../support/http/test-server.js';

const ONE_MOCK = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock', inputs: { x: 1 } }] };

describe('POST /pipelines/run', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close(0));

  const run = <T = RunResult>(body: unknown, headers?: Record<string, string>): Promise<TestResponse<T>> =>
    server.request<T>('POST', '/pipelines/run', body, headers);

  /** Expects a refusal, and that no run came of it. */
  async function refusal(body: unknown, code: string): Promise<ErrorBody['detail']> {
    const before = await server.request<RunPage>('GET', '/pipelines/runs');
    const response = await run<ErrorBody>(body);
    expect(`${response.status} ${response.body.detail.code}`).to.equal(`400 ${code}`);
    expect((await server.request<RunPage>('GET', '/pipelines/runs')).body).to.deep.equal(before.body);
    return response.body.detail;
  }

  it('responds with outputs, waves_executed, tasks_executed and events when the run has settled', async () => {
    const { status, body, headers } = await run({ pipeline: ONE_MOCK });
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      outputs: { a: { status: 'success', message: 'Mock tool executed', inputs: { x: 1 }, call_count: 1 } },
      waves_executed: 1,
      tasks_executed: 1,
      events: null,
    });
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(headers.get('wavetrain-run-id')).to.match(/^[0-9a-f-]{36}$/);
  });

  it('counts every item of a fan-out (rule 7, D20)', async () => {
    const task = {
      id: 'a',
      tool: 'mock',
      parallel_over: '{{pipeline.inputs.all}}',
      inputs: { x: '{{item}}' },
    };
    const { body } = await run({
      pipeline: { id: 'p', goal: 'g', inputs: { all: [] }, tasks: [task] },
      inputs: { all: [1, 2, 3] },
    });
    expect(body).to.include({ waves_executed: 1, tasks_executed: 3 });
    expect(body.outputs['a']).to.have.length(3);
  });

  it('accepts params, inputs and session, with the defaults of the definition (rules 8-10, D34)', async () => {
    const value = '{{params.n}} {{params.m}} {{pipeline.inputs.i}} {{pipeline.inputs.j}} {{session.s}}';
    const { body } = await run({
      pipeline: {
        id: 'p',
        goal: 'g',
        params: { n: { type: 'integer' }, m: { type: 'integer', default: 2 } },
        inputs: { i: 'default', j: 'default' },
        tasks: [{ id: 'a', tool: 'store', inputs: { key: 'k', value } }],
      },
      params: { n: '1' },
      inputs: { j: 'given' },
      session: { s: 'seeded' },
    });
    expect(body.outputs).to.deep.equal({ a: '1 2 default given seeded' });
  });

  it('returns one start and one finish event per task with collect_events (Events)', async () => {
    const { body } = await run({ pipeline: ONE_MOCK, collect_events: true });
    expect(
      body.events?.map(({ kind, task_id, tool, wave }) => ({ kind, task_id, tool, wave })),
    ).to.deep.equal([
      { kind: 'start', task_id: 'a', tool: 'mock', wave: 0 },
      { kind: 'finish', task_id: 'a', tool: 'mock', wave: 0 },
    ]);
  });

  it('responds 500 with pointers to the inputs that were cut, and with the requests that show and rerun the run (D59)', async () => {
    const tasks = [{ id: 'a', tool: 'fail', inputs: { message: 'x'.repeat(3000) } }];
    const { body, headers } = await run<ErrorBody>({ pipeline: { id: 'p', goal: 'g', tasks } });
    const { inputs, cut, hint } = body.detail;
    expect(inputs?.['message']).to.have.length.below(2100);
    expect(cut).to.deep.equal(['/inputs/message']);
    const path = `/pipelines/runs/${headers.get('wavetrain-run-id')}`;
    expect(hint).to.contain(`GET ${path}/tasks?status=failed`).and.to.contain(`POST ${path}/rerun`);
  });

  it('accepts the definition under its root key, and as a YAML body (D3, D33)', async () => {
    expect((await run({ pipeline: { pipeline: ONE_MOCK } })).status).to.equal(200);
    const yaml =
      'pipeline:\n  id: p\n  goal: g\n  tasks:\n    - {id: a, tool: store, inputs: {key: k, value: ä}}\n';
    for (const type of ['application/yaml', 'application/x-yaml', 'text/yaml; charset=utf-8']) {
      const { status, body } = await run(yaml, { 'content-type': type });
      expect(status, type).to.equal(200);
      expect(body.outputs).to.deep.equal({ a: 'ä' });
    }
  });

  it('responds 500 with task_id, error and all failures when a task fails (D16)', async () => {
    const tasks = [
      { id: 'a', tool: 'fail', inputs: { message: 'no luck' } },
      { id: 'b', tool: 'fail', inputs: { message: 'nor here' } },
      { id: 'c', tool: 'mock', inputs: { x: '{{a.output}}' } },
    ];
    const { status, body, headers } = await run<ErrorBody>({ pipeline: { id: 'p', goal: 'g', tasks } });
    expect(status).to.equal(500);
    const { hint, ...detail } = body.detail;
    expect(hint).to.contain('/rerun');
    expect(detail).to.deep.equal({
      code: 'task_failed',
      message: 'task "a" failed: no luck',
      task_id: 'a',
      error: 'no luck',
      failures: [
        { task_id: 'a', error: 'no luck', attempts: 1 },
        { task_id: 'b', error: 'nor here', attempts: 1 },
      ],
      run_id: headers.get('wavetrain-run-id'),
      inputs: { message: 'no luck', times: null },
    });
  });

  it('deletes a run whose result was delivered, and keeps a failed one for a rerun (D26, D35)', async () => {
    const before = (await server.request<RunPage>('GET', '/pipelines/runs')).body.runs.length;
    await run({ pipeline: ONE_MOCK });
    const failed = await run<ErrorBody>({
      pipeline: { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'fail' }] },
    });
    const runId = failed.body.detail.run_id;
    const { runs } = (await server.request<RunPage>('GET', '/pipelines/runs')).body;
    expect(runs).to.have.length(before + 1);
    expect(runs[0]).to.include({ run_id: runId, status: 'failed' });
    const rerun = await server.request('POST', `/pipelines/runs/${runId}/rerun`, { from: 'failed' });
    expect(rerun.status).to.equal(202);
  });

  it('accepts the definition as YAML text beside the values of the run (D33)', async () => {
    const yaml =
      'pipeline: {id: p, goal: g, params: {n: {}}, tasks: [{id: a, tool: mock, inputs: {n: "{{params.n}}"}}]}';
    const { status, body } = await run({ yaml, params: { n: 'Ada' } });
    expect(status).to.equal(200);
    expect(body.outputs).to.have.nested.property('a.inputs.n', 'Ada');
  });

  it('gives every run a fresh blackboard of the default tenant', async () => {
    const tasks = [
      { id: 'read', tool: 'mock', inputs: { seen: '{{session.k ?? "nothing"}}' } },
      { id: 'write', tool: 'store', inputs: { key: 'k', value: 'left over' }, await: ['read'] },
    ];
    for (let time = 0; time < 3; time++) {
      const { body } = await run({ pipeline: { id: 'p', goal: 'g', tasks } });
      expect(body.outputs['read']).to.deep.include({ inputs: { seen: 'nothing' } });
    }
  });

  it('refuses an invalid definition with errors and problems (D8, D32)', async () => {
    const detail = await refusal(
      { pipeline: { ...ONE_MOCK, tasks: [{ id: 'a', tool: 'mok' }] } },
      'invalid_definition',
    );
    expect(detail.errors).to.deep.equal(['/tasks/0/tool: there is no tool "mok" (did you mean "mock"?)']);
    expect(detail.problems).to.deep.equal([
      {
        code: 'unknown_tool',
        message: 'there is no tool "mok"',
        path: '/tasks/0/tool',
        severity: 'error',
        hint: 'did you mean "mock"?',
      },
    ]);
  });

  it('refuses a missing, unknown or mistyped param before a run exists (D4, D32)', async () => {
    const pipeline = { ...ONE_MOCK, params: { n: { type: 'integer' } } };
    expect((await refusal({ pipeline }, 'invalid_params')).message).to.include('"n"');
    expect((await refusal({ pipeline, params: { n: 1, m: 2 } }, 'invalid_params')).message).to.include('"m"');
    expect((await refusal({ pipeline, params: { n: 1.5 } }, 'invalid_params')).message).to.include('"n"');
  });

  it('refuses every option that is out of range or unknown, including cancel_event (D34)', async () => {
    const bad: Record<string, unknown[]> = {
      per_task_timeout: [0, -1, '1', true],
      retry_base_delay: [-0.1, null, '1'],
      max_retry_delay: [-0.1, null, []],
      backoff_jitter: [-0.1, 1.1, null],
      fan_out_concurrency: [0, 1.5, -1, '2'],
      cancel_event: [null, {}, true],
      per_task_timeou: [1],
      __proto__x: [1],
    };
    for (const [name, values] of Object.entries(bad)) {
      for (const value of values) {
        const { message } = await refusal(
          { pipeline: ONE_MOCK, options: { [name]: value } },
          'invalid_options',
        );
        expect(message).to.include(name);
      }
    }
  });

  it('accepts every option at its bounds', async () => {
    const options = {
      per_task_timeout: null,
      retry_base_delay: 0,
      max_retry_delay: 0,
      fan_out_concurrency: null,
    };
    for (const more of [
      { backoff_jitter: 0 },
      { backoff_jitter: 1 },
      { per_task_timeout: 60, fan_out_concurrency: 1 },
    ]) {
      const { status } = await run({ pipeline: ONE_MOCK, options: { ...options, ...more } });
      expect(status).to.equal(200);
    }
  });

  it('refuses an undocumented body and names the wrong part (D32)', async () => {
    const wrong: [unknown, string][] = [
      [undefined, 'the body is missing'],
      [null, 'the body must be an object, not null'],
      [[], 'the body must be an object, not a list'],
      [{}, 'the definition is missing: send it in field "pipeline", or as text in field "yaml"'],
      [
        { pipeline: ONE_MOCK, tenant_id: 'acme' },
        'there is no field "tenant_id" (there are pipeline, yaml, params, inputs, session, options, breakpoints, collect_events)',
      ],
      [{ pipeline: ONE_MOCK, options: [] }, 'field "options" must be an object or null, not a list'],
      [{ pipeline: ONE_MOCK, params: 1 }, 'field "params" must be an object or null, not a number'],
      [
        { pipeline: ONE_MOCK, collect_events: 'yes' },
        'field "collect_events" must be true or false or null, not a string',
      ],
    ];
    for (const [body, message] of wrong) {
      expect(await refusal(body, 'invalid_request')).to.deep.equal({ code: 'invalid_request', message });
    }
  });

  it('serves 200 concurrent runs, each with its own result', async () => {
    const responses = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        run({ pipeline: { ...ONE_MOCK, tasks: [{ id: 'a', tool: 'mock', inputs: { n } }] } }),
      ),
    );
    for (const [n, { status, body }] of responses.entries()) {
      expect(status).to.equal(200);
      expect(body.outputs['a']).to.deep.include({ inputs: { n }, call_count: 1 });
    }
    expect(server.registry.queries.load).to.deep.equal({ queued: 0, running: 0 });
  });
});
