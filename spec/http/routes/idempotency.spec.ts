import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import { startTestServer, type TestServer } from '../../support/http/test-server.js';

const ONE_MOCK = {
  id: 'p',
  goal: 'greet {{params.name}}',
  params: { name: { default: 'Ada' } },
  tasks: [{ id: 'a', tool: 'mock' }],
};

interface Accepted {
  readonly run_id: string;
  readonly status: string;
}

describe('Idempotency-Key (D36)', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close(0));

  const submit = (key: string, body: unknown, headers: Record<string, string> = {}) =>
    server.request<Accepted & ErrorBody>('POST', '/pipelines/run_async', body, {
      'idempotency-key': key,
      ...headers,
    });

  it('returns the existing run for the same key and body, with Idempotent-Replayed', async () => {
    const first = await submit('one', { pipeline: ONE_MOCK });
    expect(first.headers.get('idempotent-replayed')).to.equal(null);
    await server.request('GET', `/pipelines/runs/${first.body.run_id}?wait=10`);
    const again = await submit('one', { pipeline: ONE_MOCK });
    expect(again.status).to.equal(202);
    expect(again.body).to.deep.equal({ run_id: first.body.run_id, status: 'succeeded' });
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect(again.headers.get('location')).to.equal(first.headers.get('location'));
  });

  it('creates one run for a hundred concurrent requests', async () => {
    const responses = await Promise.all(
      Array.from({ length: 100 }, () => submit('hundred', { pipeline: ONE_MOCK })),
    );
    expect(new Set(responses.map(({ body }) => body.run_id)).size).to.equal(1);
    expect(responses.filter(({ headers }) => headers.get('idempotent-replayed') === null)).to.have.length(1);
  });

  it('refuses another body with 409, even an invalid one', async () => {
    const { body } = await submit('two', { pipeline: ONE_MOCK });
    for (const other of [{ pipeline: ONE_MOCK, collect_events: true }, { pipeline: {} }]) {
      const refused = await submit('two', other);
      expect(refused.status).to.equal(409);
      expect(refused.body.detail).to.deep.equal({
        code: 'idempotency_conflict',
        message: `the Idempotency-Key "two" was used with another request, for run ${body.run_id}`,
      });
    }
  });

  it('ignores the order of keys in JSON objects, but not the order of lists', async () => {
    const { body } = await submit('three', {
      pipeline: ONE_MOCK,
      params: { name: 'x' },
      session: { a: 1, b: [1, 2] },
    });
    const turned = { session: { b: [1, 2], a: 1 }, params: { name: 'x' }, pipeline: ONE_MOCK };
    expect((await submit('three', turned)).body.run_id).to.equal(body.run_id);
    const other = { ...turned, session: { a: 1, b: [2, 1] } };
    expect((await submit('three', other)).status).to.equal(409);
  });

  it('compares YAML as text', async () => {
    const yaml = { 'content-type': 'application/yaml' };
    const text = 'id: p\ngoal: g\ntasks: [{id: a, tool: mock}]\n';
    const { body } = await submit('four', text, yaml);
    expect((await submit('four', text, yaml)).body.run_id).to.equal(body.run_id);
    expect((await submit('four', `${text}\n`, yaml)).status).to.equal(409);
  });

  it('belongs to one tenant', async () => {
    const mine = await submit('five', { pipeline: ONE_MOCK, tenant_id: 'mine' });
    const yours = await submit('five', { pipeline: ONE_MOCK, tenant_id: 'yours' });
    expect(yours.status).to.equal(202);
    expect(yours.body.run_id).to.not.equal(mine.body.run_id);
  });

  it('is free again when the run is deleted, and is not used up by a refused request', async () => {
    expect((await submit('six', { pipeline: {} })).status).to.equal(400);
    const { body } = await submit('six', { pipeline: ONE_MOCK });
    await server.request('GET', `/pipelines/runs/${body.run_id}?wait=10`);
    expect((await server.request('DELETE', `/pipelines/runs/${body.run_id}`)).status).to.equal(204);
    expect((await submit('six', { pipeline: ONE_MOCK, collect_events: true })).status).to.equal(202);
  });

  it('accepts 1 to 255 characters', async () => {
    expect((await submit('', { pipeline: ONE_MOCK })).status).to.equal(400);
    expect((await submit('k'.repeat(256), { pipeline: ONE_MOCK })).status).to.equal(400);
    expect((await submit('k'.repeat(255), { pipeline: ONE_MOCK })).status).to.equal(202);
  });
});
