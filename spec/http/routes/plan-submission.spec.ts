import { expect } from 'chai';
import { createHash } from 'node:crypto';
import type { ApiKey } from '../../../lib/http/auth/authenticate.js';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { type TestResponse, startTestServer, type TestServer } from '../../support/http/test-server.js';
import { DOOMED, LETTER, LETTER_PIPELINES, LETTER_YAML } from '../support/plans.js';

interface Accepted {
  readonly run_id: string;
  readonly status: string;
}

const WHOLE = { plan: LETTER, pipelines: LETTER_PIPELINES };

describe('POST /plans/run_async', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close(0));

  const submit = <T = Accepted>(body: unknown, headers?: Record<string, string>): Promise<TestResponse<T>> =>
    server.request<T>('POST', '/plans/run_async', body, headers);

  const settled = async (runId: string): Promise<RunRecord> =>
    (await server.request<RunRecord>('GET', `/pipelines/runs/${runId}?wait=10`)).body;

  it('responds 202 with the run id, the status queued and the path of the record (D31, D35)', async () => {
    const { status, body, headers } = await submit(WHOLE);
    expect(status).to.equal(202);
    expect(body.status).to.equal('queued');
    expect(headers.get('location')).to.equal(`/pipelines/runs/${body.run_id}`);
    expect((await settled(body.run_id)).status).to.equal('succeeded');
  });

  it('keeps a complete record (D28, D47)', async () => {
    const { body } = await submit({ ...WHOLE, inputs: { name: 'Ada' }, tenant_id: 'acme' });
    const { created_at, started_at, finished_at, ...rest } = await settled(body.run_id);
    for (const time of [created_at, started_at, finished_at]) {
      expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    const ofOne = { waves_executed: 1, tasks_executed: 1, events: null };
    expect(rest).to.deep.equal({
      run_id: body.run_id,
      kind: 'plan',
      status: 'succeeded',
      paused: false,
      pipeline_id: 'letter',
      tenant_id: 'acme',
      goal: 'write a letter',
      settled: true,
      progress: {
        waves: 2,
        waves_executed: 2,
        tasks: 2,
        tasks_settled: 2,
        invocations: 2,
        sub_pipelines: 2,
        sub_pipelines_settled: 2,
      },
      result: {
        plan_id: 'letter',
        sub_results: {
          sign: { outputs: { keep: 'Dear Ada, yours' }, ...ofOne },
          greet: { outputs: { keep: 'Dear Ada' }, ...ofOne },
        },
        blackboard: { greeting: 'Dear Ada', letter: 'Dear Ada, yours' },
        total_tasks_executed: 2,
        total_waves: 2,
      },
      error: null,
      failures: [],
      artifacts: [],
      artifact_count: 0,
      usage: [],
      sub_pipelines: { sign: 'succeeded', greet: 'succeeded' },
      events: null,
      failed_task: null,
      rerun_of: null,
      trigger: null,
      started_by: { kind: 'anonymous', name: null },
    });
  });

  it('records an error that names sub-pipeline and task (D16, D47)', async () => {
    const { body } = await submit({ plan: DOOMED });
    expect(await settled(body.run_id)).to.deep.include({
      status: 'failed',
      error: 'sub-pipeline "b", task "t": boom 1',
      failures: [{ sub_pipeline: 'b', task_id: 't', error: 'boom 1', attempts: 1 }],
      result: null,
      goal: '',
    });
  });

  it('logs a failed run of a plan', async () => {
    const { body } = await submit({ plan: DOOMED });
    await settled(body.run_id);
    expect(server.log.filter(({ facts }) => facts['run_id'] === body.run_id)).to.deep.include({
      level: 'warn',
      facts: {
        run_id: body.run_id,
        pipeline_id: 'doomed',
        tenant_id: 'default',
        sub_pipeline: 'b',
        task_id: 't',
        error: 'sub-pipeline "b", task "t": boom 1',
        failures: 1,
        sub_pipelines_failed: ['b'],
      },
      message: 'run failed',
    });
  });

  it('refuses an invalid request before a run exists (D32, D33)', async () => {
    const before = server.registry.list({ limit: 500 }).runs.length;
    const refused: [object, string][] = [
      [{ plan: {} }, 'invalid_definition'],
      [{ plan: LETTER }, 'invalid_definition'],
      [{ ...WHOLE, options: { cancel_event: null } }, 'invalid_options'],
      [{ ...WHOLE, tenant_id: '../x' }, 'invalid_request'],
      [{ ...WHOLE, params: {} }, 'invalid_request'],
      [{ ...WHOLE, plan_concurrency: 0 }, 'invalid_request'],
    ];
    for (const [body, code] of refused) {
      const response = await submit<ErrorBody>(body);
      expect(`${response.status} ${response.body.detail.code}`, JSON.stringify(body)).to.equal(`400 ${code}`);
    }
    expect(server.registry.list({ limit: 500 }).runs).to.have.length(before);
  });

  describe('with an Idempotency-Key (D36)', () => {
    const submitAs = (key: string, body: unknown, headers: Record<string, string> = {}) =>
      submit<Accepted & ErrorBody>(body, { 'idempotency-key': key, ...headers });

    it('returns the existing run for the same plan, in any order of pipelines and keys', async () => {
      const first = await submitAs('one', WHOLE);
      await settled(first.body.run_id);
      const { greet, sign } = LETTER_PIPELINES;
      for (const pipelines of [
        { sign, greet },
        { greet, sign },
      ]) {
        const again = await submitAs('one', { pipelines, plan: LETTER });
        expect(again.status).to.equal(202);
        expect(again.body).to.deep.equal({ run_id: first.body.run_id, status: 'succeeded' });
        expect(again.headers.get('idempotent-replayed')).to.equal('true');
      }
    });

    it('refuses other pipelines, and sub-pipelines in another order, with 409', async () => {
      await submitAs('two', WHOLE);
      const turned = { ...LETTER, sub_pipelines: LETTER.sub_pipelines.toReversed() };
      const others = [
        { ...WHOLE, plan: turned },
        { ...WHOLE, pipelines: { ...LETTER_PIPELINES, sign: LETTER_PIPELINES.greet } },
        { plan: LETTER },
      ];
      for (const other of others) expect((await submitAs('two', other)).status).to.equal(409);
    });

    it('distinguishes a plan from a pipeline with the same text', async () => {
      const yaml = { 'content-type': 'application/yaml', 'idempotency-key': 'three' };
      const text = 'id: p\ngoal: g\ntasks: [{id: a, tool: mock}]\n';
      expect((await server.request('POST', '/pipelines/run_async', text, yaml)).status).to.equal(202);
      const other = await submitAs('three', text, yaml);
      expect(`${other.status} ${other.body.detail.code}`).to.equal('409 idempotency_conflict');
    });

    it('creates one run for a hundred concurrent requests', async () => {
      const responses = await Promise.all(Array.from({ length: 100 }, () => submitAs('hundred', WHOLE)));
      expect(new Set(responses.map(({ body }) => body.run_id)).size).to.equal(1);
    });
  });
});

describe('Plans on a server with API keys (D37)', () => {
  const sha256 = (secret: string): string => createHash('sha256').update(secret).digest('hex');
  const key = (name: string, tenants: ApiKey['tenants'], scopes: ApiKey['scopes']): ApiKey => ({
    name,
    sha256: sha256(name),
    tenants,
    scopes,
  });
  let server: TestServer;
  before(async () => {
    const keys = [
      key('a', ['acme'], ['read', 'run']),
      key('b', ['beta'], ['read', 'run']),
      key('reader', ['acme'], ['read']),
    ];
    server = await startTestServer({ keys });
  });
  after(() => server.close(0));

  const as = <T = Accepted & ErrorBody>(
    name: string | undefined,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<TestResponse<T>> =>
    server.request<T>(method, path, body, name === undefined ? {} : { authorization: `Bearer ${name}` });

  it('are validated with any key, and run with the scope run', async () => {
    for (const path of ['validate', 'run', 'run_async']) {
      expect((await as(undefined, 'POST', `/plans/${path}`, WHOLE)).status, path).to.equal(401);
    }
    expect((await as('reader', 'POST', '/plans/validate', WHOLE)).status).to.equal(200);
    expect((await as('reader', 'POST', '/plans/run', WHOLE)).status).to.equal(403);
    expect((await as('reader', 'POST', '/plans/run_async', WHOLE)).status).to.equal(403);
  });

  it('have a JSON Schema for any key, because it lists the tools', async () => {
    expect((await as(undefined, 'GET', '/schemas/plan.json')).status).to.equal(401);
    expect((await as('reader', 'GET', '/schemas/plan.json')).status).to.equal(200);
    expect((await as('reader', 'GET', '/schemas/pipeline.json')).status).to.equal(200);
    expect((await as(undefined, 'GET', '/openapi.json')).status).to.equal(200);
  });

  it('run only for the tenants of the key, and are invisible to others', async () => {
    const { body } = await as('a', 'POST', '/plans/run_async', WHOLE);
    const path = `/pipelines/runs/${body.run_id}`;
    const mine = await as<RunRecord>('a', 'GET', `${path}?wait=10`);
    expect(mine.body).to.include({ tenant_id: 'acme', status: 'succeeded' });
    for (const [method, more] of [
      ['GET', ''],
      ['GET', '/events'],
      ['GET', '/snapshot'],
      ['POST', '/cancel'],
      ['POST', '/rerun'],
      ['DELETE', ''],
    ] as const) {
      expect((await as('b', method, path + more)).status, `${method} ${more}`).to.equal(404);
    }
    const foreign = await as('b', 'POST', '/plans/run_async', { ...WHOLE, tenant_id: 'acme' });
    expect(foreign.status).to.equal(403);
    expect((await as<{ runs: unknown[] }>('b', 'GET', '/pipelines/runs')).body.runs).to.deep.equal([]);
  });

  it('keep the blackboards of two tenants apart', async () => {
    const [a, b] = await Promise.all(
      ['a', 'b'].map((name) => as<RunRecord>(name, 'POST', '/plans/run', { ...WHOLE, inputs: { name } })),
    );
    expect(a?.body).to.deep.nested.include({ 'blackboard.letter': 'Dear a, yours' });
    expect(b?.body).to.deep.nested.include({ 'blackboard.letter': 'Dear b, yours' });
  });

  it('do not share idempotency keys between tenants (D36)', async () => {
    const submit = (name: string) =>
      server.request<Accepted>('POST', '/plans/run_async', LETTER_YAML, {
        authorization: `Bearer ${name}`,
        'content-type': 'application/yaml',
        'idempotency-key': 'same',
      });
    const [a, b] = [await submit('a'), await submit('b')];
    expect([a.status, b.status]).to.deep.equal([202, 202]);
    expect(a.body.run_id).to.not.equal(b.body.run_id);
  });
});
