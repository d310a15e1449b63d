import { expect } from 'chai';
import type { ErrorBody } from '../../../../lib/http/schemas/error.js';
import type { RunPage } from '../../../../lib/runs/views/run-listing.js';
import { ControlledServer, TWO_WAVES } from '../../support/controlled-server.js';

const ONE_TASK = { id: 'one', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] };

describe('GET /pipelines/runs (D35)', () => {
  const fixture = new ControlledServer();
  const runIds: string[] = [];

  before(async () => {
    await fixture.open();
    for (const [pipeline, tenant_id] of [
      [ONE_TASK, 'x'],
      [TWO_WAVES, 'x'],
      [ONE_TASK, 'y'],
      [TWO_WAVES, 'y'],
    ] as const) {
      runIds.push(await fixture.submit(pipeline, { tenant_id }));
    }
    const [first = '', , third = ''] = runIds;
    await fixture.complete(first);
    await fixture.request('POST', `/pipelines/runs/${third}/cancel`);
  });
  after(() => fixture.close());

  const list = (query = '') => fixture.request<RunPage & ErrorBody>('GET', `/pipelines/runs${query}`);

  /** Lists the found runs by their place in the order of submission. */
  async function found(query: string): Promise<number[]> {
    const { status, body } = await list(query);
    expect(status, query).to.equal(200);
    return body.runs.map(({ run_id }) => runIds.indexOf(run_id));
  }

  it('lists the newest runs first, without their large fields', async () => {
    const { body } = await list();
    expect(body.next_cursor).to.equal(null);
    expect(body.runs.map(({ run_id }) => run_id)).to.deep.equal(runIds.toReversed());
    const record = await fixture.poll(runIds[0] ?? '');
    const {
      result: _,
      failures: __,
      events: ___,
      sub_pipelines: ____,
      artifacts: _____,
      ...counted
    } = record;
    const { artifact_count: ______, usage: _______, ...summary } = counted;
    expect(body.runs.at(-1)).to.deep.equal(summary);
  });

  it('filters runs by status, tenant and pipeline', async () => {
    expect(await found('?tenant_id=x')).to.deep.equal([1, 0]);
    expect(await found('?pipeline_id=held')).to.deep.equal([3, 1]);
    expect(await found('?pipeline_id=one&tenant_id=y')).to.deep.equal([2]);
    expect(await found('?status=succeeded')).to.deep.equal([0]);
    expect(await found('?status=cancelled&tenant_id=y')).to.deep.equal([2]);
    expect(await found('?status=failed')).to.deep.equal([]);
    expect(await found('?tenant_id=nobody')).to.deep.equal([]);
    expect((await found('?status=queued')).concat(await found('?status=running'))).to.have.members([1, 3]);
  });

  it('finds runs by a text, and by the time of their submission', async () => {
    expect(await found('?text=BE%20HELD')).to.deep.equal([3, 1]);
    expect(await found(`?text=${runIds[2]?.slice(0, 30)}`)).to.deep.equal([2]);
    expect(await found('?text=be%20held&tenant_id=x')).to.deep.equal([1]);
    const { created_at: at } = await fixture.poll(runIds[0] ?? '');
    const elsewhere = at.replace('Z', '%2B02:00');
    expect(await found(`?created_after=${at}`)).to.deep.equal([3, 2, 1, 0]);
    expect(await found(`?created_before=${at}`)).to.deep.equal([]);
    expect(await found(`?created_after=${elsewhere}`)).to.deep.equal([3, 2, 1, 0]);
    expect(await found(`?created_before=${elsewhere}`)).to.deep.equal([]);
  });

  it('says since when settled runs of the caller are kept, and for how long, when it counts', async () => {
    const { created_at: first } = await fixture.poll(runIds[0] ?? '');
    const limits = { max_age_seconds: 86_400, max_runs: 1000, max_bytes: null };
    const retention = async (query: string) => (await list(query)).body.retention;
    expect(await retention('?counts=true&status=failed')).to.deep.equal({ oldest: first, ...limits });
    expect(await retention('?counts=true&tenant_id=x&limit=1')).to.deep.equal({ oldest: first, ...limits });
    // The cancelled run of the tenant drains.
    expect(await retention('?counts=true&tenant_id=y')).to.deep.equal({ oldest: null, ...limits });
    expect(await retention('?counts=true&tenant_id=nobody')).to.deep.equal({ oldest: null, ...limits });
    expect(await retention('')).to.equal(undefined);
  });

  it('counts runs by status, and says what queued ones wait for', async () => {
    const { body } = await list('?counts=true&status=succeeded&limit=1');
    const counts = { queued: 1, running: 1, paused: 0, succeeded: 1, failed: 0, cancelled: 1 };
    expect(body.counts).to.deep.equal(counts);
    expect(body.queue).to.deep.equal({ queued: 1, waits_for: 'server' });
    expect((await list()).body).to.have.all.keys('runs', 'next_cursor');
  });

  it('responds 304 to the version that the client has until a run changes, to each query with its own', async () => {
    const get = (query: string, etag: string) =>
      fixture.server.request('GET', `/pipelines/runs${query}`, undefined, { 'if-none-match': etag });
    const etag = (await list('?counts=true')).headers.get('etag') ?? '';
    const unchanged = await get('?counts=true', etag);
    expect([unchanged.status, unchanged.body, unchanged.headers.get('etag')]).to.deep.equal([
      304,
      undefined,
      etag,
    ]);
    expect((await get('', etag)).status).to.equal(200);
    const late = await fixture.submit();
    const changed = await get('?counts=true', etag);
    expect(changed.status).to.equal(200);
    expect(changed.headers.get('etag')).to.not.equal(etag);
    fixture.server.registry.forget(late);
  });

  it('refuses invalid filters', async () => {
    for (const query of [
      '?status=done',
      '?limit=0',
      '?limit=501',
      '?limit=1.5',
      '?limit=Infinity',
      '?limit=',
      '?limit=1&limit=2',
      '?cursor=7',
      '?cursor=',
      '?tenant_id=%20',
      '?page=1',
      '?counts=yes',
      `?text=${'x'.repeat(201)}`,
      '?created_after=yesterday',
      '?created_after=2026-01-31',
      '?created_after=2026-01-31T08:00:00',
      '?created_after=2026-02-30T08:00:00Z',
      '?created_before=2026-13-01T08:00:00Z',
      '?created_before=2026-01-31T25:00:00Z',
      '?created_before=2026-01-31T08:00:00+02:00',
    ]) {
      const { status, body } = await list(query);
      expect(`${status} ${body.detail?.code}`, query).to.equal('400 invalid_request');
    }
  });
});

describe('GET /pipelines/runs/{run_id}/snapshot', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open());
  afterEach(() => fixture.clear());
  after(() => fixture.close());

  it('serves the actor tree of a run in every state (D35)', async () => {
    const values: unknown[] = [];
    const runId = await fixture.submit();
    const look = async (): Promise<void> => {
      const { status, body } = await fixture.request('GET', `/pipelines/runs/${runId}/snapshot`);
      expect(status).to.equal(200);
      values.push(body['value']);
    };
    await look();
    await fixture.request('POST', `/pipelines/runs/${runId}/cancel`);
    await look();
    await fixture.complete(runId);
    await look();
    expect(values).to.deep.equal(['running', 'draining', 'cancelled']);
  });
});
