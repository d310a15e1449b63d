import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { type TestResponse, startTestServer, type TestServer } from '../../support/http/test-server.js';
import { LETTER, LETTER_PIPELINES } from '../support/plans.js';
import { createApiKey } from '../../support/http/api-key.js';
import { suiteServer } from '../support/suite-server.js';

interface Accepted {
  readonly run_id: string;
  readonly status: string;
}

const WHOLE = { plan: LETTER, pipelines: LETTER_PIPELINES };

describe('POST /plans/run_async', () => {
  const server = suiteServer();

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

    it('distinguishes a plan from a pipeline with the same text', async () => {
      const yaml = { 'content-type': 'application/yaml', 'idempotency-key': 'three' };
      const text = 'id: p\ngoal: g\ntasks: [{id: a, tool: mock}]\n';
      expect((await server.request('POST', '/pipelines/run_async', text, yaml)).status).to.equal(202);
      const other = await submitAs('three', text, yaml);
      expect(`${other.status} ${other.body.detail.code}`).to.equal('409 idempotency_conflict');
    });
  });
});

describe('Plans on a server with API keys (D37)', () => {
  let server: TestServer;
  before(async () => {
    const keys = [
      createApiKey('a', ['acme'], ['read', 'run']),
      createApiKey('b', ['beta'], ['read', 'run']),
      createApiKey('reader', ['acme'], ['read']),
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
});
