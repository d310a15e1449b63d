import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { AcceptedRun, RunRecord } from '../../../lib/runs/record.js';
import { type TestResponse, startTestServer, type TestServer } from '../../support/http/test-server.js';

const ONE_MOCK = {
  id: 'p',
  goal: 'greet {{params.name}}',
  params: { name: { default: 'Ada' } },
  tasks: [{ id: 'a', tool: 'mock' }],
};

describe('POST /pipelines/run_async', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close(0));

  const submit = <T = AcceptedRun>(
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<TestResponse<T>> => server.request<T>('POST', '/pipelines/run_async', body, headers);

  const settled = async (runId: string): Promise<RunRecord> =>
    (await server.request<RunRecord>('GET', `/pipelines/runs/${runId}?wait=10`)).body;

  it('responds 202 with the run id, the status queued and the path of the record (D31)', async () => {
    const { status, body, headers } = await submit({ pipeline: ONE_MOCK });
    expect(status).to.equal(202);
    expect(Object.keys(body)).to.deep.equal(['run_id', 'status']);
    expect(body.run_id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(body.status).to.equal('queued');
    expect(headers.get('location')).to.equal(`/pipelines/runs/${body.run_id}`);
    expect((await settled(body.run_id)).status).to.equal('succeeded');
  });

  it('keeps a complete record (D28)', async () => {
    const { body } = await submit({ pipeline: ONE_MOCK, params: { name: 'Bo' }, tenant_id: 'acme' });
    const record = await settled(body.run_id);
    const { created_at, started_at, finished_at, ...rest } = record;
    for (const time of [created_at, started_at, finished_at]) {
      expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    expect(rest).to.deep.equal({
      run_id: body.run_id,
      kind: 'pipeline',
      status: 'succeeded',
      paused: false,
      pipeline_id: 'p',
      tenant_id: 'acme',
      goal: 'greet Bo',
      settled: true,
      progress: { waves: 1, waves_executed: 1, tasks: 1, tasks_settled: 1, invocations: 1 },
      result: {
        outputs: { a: { status: 'success', message: 'Mock tool executed', inputs: {}, call_count: 1 } },
        waves_executed: 1,
        tasks_executed: 1,
      },
      error: null,
      failures: [],
      artifacts: [],
      artifact_count: 0,
      usage: [],
      sub_pipelines: null,
      events: null,
      failed_task: null,
      rerun_of: null,
      trigger: null,
      started_by: { kind: 'anonymous', name: null },
    });
  });

  it('records the error, all failures and the events of a failed run (D16, D28)', async () => {
    const tasks = [
      { id: 'a', tool: 'fail', inputs: { message: 'no luck' }, retry: 1 },
      { id: 'b', tool: 'mock', await: ['a'] },
    ];
    const options = { retry_base_delay: 0 };
    const { body } = await submit({ pipeline: { id: 'p', goal: 'g', tasks }, collect_events: true, options });
    const record = await settled(body.run_id);
    expect(record).to.deep.include({
      status: 'failed',
      error: 'no luck',
      failures: [{ task_id: 'a', error: 'no luck', attempts: 2 }],
      result: null,
      tenant_id: 'default',
    });
    expect(record.events?.map(({ kind, task_id }) => `${kind} ${task_id}`)).to.deep.equal([
      'start a',
      'fail a',
    ]);
  });

  it('keeps the events of a cancelled run (D28)', async () => {
    const tasks = [{ id: 'a', tool: 'sleep', inputs: { seconds: 100 } }];
    const { body } = await submit({ pipeline: { id: 'p', goal: 'g', tasks }, collect_events: true });
    await server.request('POST', `/pipelines/runs/${body.run_id}/cancel`, { force: true });
    const record = await settled(body.run_id);
    expect(record).to.include({ status: 'cancelled', settled: true });
    expect(record.events?.map(({ kind }) => kind)).to.deep.equal(['start', 'fail']);
  });

  it('gives every run its own blackboard, even within one tenant', async () => {
    const tasks = [
      { id: 'read', tool: 'mock', inputs: { seen: '{{session.k ?? "nothing"}}' } },
      { id: 'write', tool: 'store', inputs: { key: 'k', value: 'left over' }, await: ['read'] },
      { id: 'again', tool: 'mock', inputs: { seen: '{{session.k}}' }, await: ['write'] },
    ];
    for (let time = 0; time < 2; time++) {
      const { body } = await submit({ pipeline: { id: 'p', goal: 'g', tasks }, tenant_id: 'acme' });
      const { result } = await settled(body.run_id);
      expect(result?.outputs?.['read']).to.deep.include({ inputs: { seen: 'nothing' } });
      expect(result?.outputs?.['again']).to.deep.include({ inputs: { seen: 'left over' } });
    }
  });

  it('accepts YAML, and refuses an invalid request before a run exists (D32, D33)', async () => {
    const yaml = await submit('id: p\ngoal: g\ntasks: [{id: a, tool: mock}]', {
      'content-type': 'application/yaml',
    });
    expect(yaml.status).to.equal(202);
    const before = server.registry.list({ limit: 500 }).runs.length;
    const refused: [object, string][] = [
      [{ pipeline: {} }, 'invalid_definition'],
      [{ pipeline: ONE_MOCK, params: { nam: 1 } }, 'invalid_params'],
      [{ pipeline: ONE_MOCK, options: { cancel_event: null } }, 'invalid_options'],
      [{ pipeline: ONE_MOCK, tenant_id: '' }, 'invalid_request'],
      [{ pipeline: ONE_MOCK, tenant_id: '../x' }, 'invalid_request'],
      [{ pipeline: ONE_MOCK, tenant_id: 7 }, 'invalid_request'],
    ];
    for (const [body, code] of refused) {
      const response = await submit<ErrorBody>(body);
      expect(`${response.status} ${response.body.detail.code}`, JSON.stringify(body)).to.equal(`400 ${code}`);
    }
    const bad = await submit<ErrorBody>('pipeline: [', { 'content-type': 'application/yaml' });
    expect(bad.body.detail.problems?.[0]).to.include({ line: 1, severity: 'error' });
    expect(server.registry.list({ limit: 500 }).runs).to.have.length(before);
  });
});
