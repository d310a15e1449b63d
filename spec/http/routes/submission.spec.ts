import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { RunResult } from '../../../lib/execution/results.js';
import type { RunPage } from '../../../lib/runs/views/run-listing.js';
import type { TestResponse } from '../../support/http/test-server.js';
import { suiteServer } from '../support/suite-server.js';

const ONE_MOCK = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock', inputs: { x: 1 } }] };

describe('POST /pipelines/run', () => {
  const server = suiteServer();

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

  it('refuses an undocumented body and names the wrong part (D32)', async () => {
    const wrong: [unknown, string][] = [
      [undefined, 'the body is missing'],
      [null, 'the body must be an object, not null'],
      [[], 'the body must be an object, not a list'],
      [{}, 'the definition is missing: send it in field "pipeline", or as text in field "yaml"'],
      [
        { pipeline: ONE_MOCK, tenant_id: 'acme' },
        'there is no field "tenant_id" (there are pipeline, yaml, params, inputs, session, options, breakpoints, labels, collect_events)',
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
});
