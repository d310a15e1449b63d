import { expect } from 'chai';
import type { ErrorBody } from '../../../../lib/http/schemas/error.js';
import type { PipelineStatistics } from '../../../../lib/runs/store/statistics/statistics-query.js';
import type { StatisticsPage } from '../../../../lib/runs/store/statistics/statistics-request.js';
import { createDisk, MemoryStore } from '../../../runs/store/memory/memory-store.js';
import { createApiKey } from '../../../support/http/api-key.js';
import { startTestServer, type TestServer } from '../../../support/http/test-server.js';
import { ControlledServer } from '../../support/controlled-server.js';

const ONE_TASK = { id: 'one', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] };
const HELLO = { id: 'hello', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] };
const HOUR_MS = 3_600_000;

for (const kept of ['memory', 'a store'] as const) {
  describe(`GET /pipelines/stats, with the runs in ${kept} (D35)`, () => {
    const fixture = new ControlledServer();
    let start = 0;

    before(async () => {
      await fixture.open(kept === 'memory' ? {} : { store: new MemoryStore(createDisk()) });
      fixture.clock.advance(HOUR_MS - (fixture.clock.now() % HOUR_MS));
      start = fixture.clock.now();
      for (const [durationMs, tenant_id, status] of [
        [1000, 'x', 'succeeded'],
        [3000, 'x', 'failed'],
        [HOUR_MS, 'x', 'succeeded'],
        [10, 'y', 'succeeded'],
      ] as const) {
        const id = await fixture.submit(ONE_TASK, { tenant_id });
        fixture.clock.advance(durationMs);
        await (status === 'failed' ? fixture.fail(id) : fixture.complete(id));
      }
    });
    after(() => fixture.close());

    const read = (query = '') =>
      fixture.request<StatisticsPage & ErrorBody>('GET', `/pipelines/stats${query}`);
    const hour = (number: number): string => new Date(start + number * HOUR_MS).toISOString();
    const find = ({ body }: Awaited<ReturnType<typeof read>>, tenant: string): PipelineStatistics[] =>
      body.rows.filter(({ tenant_id: id }) => id === tenant);

    it('counts runs by the hour in which they have finished, with their durations', async () => {
      const response = await read('?by=hour');
      expect(response.status).to.equal(200);
      expect(response.body).to.deep.include({ from: hour(-22), to: hour(2), by: 'hour', next_cursor: null });
      const [first, second, ...others] = find(response, 'x');
      expect(others).to.deep.equal([]);
      expect(first).to.include({ pipeline_id: 'one', at: hour(0), succeeded: 1, failed: 1, cancelled: 0 });
      expect(first?.p50_ms).to.be.closeTo(1000, 50);
      expect(first?.p95_ms).to.be.closeTo(3000, 150);
      expect(first).not.to.have.property('cost');
      expect(second).to.include({ at: hour(1), succeeded: 1, failed: 0 });
      expect(second?.p95_ms).to.be.closeTo(HOUR_MS, 0.05 * HOUR_MS);
    });

    it('counts the last 7 days by default, by day of UTC', async () => {
      const { body } = await read();
      const day = (ms: number): string => new Date(ms).toISOString().replace(/T.*/, 'T00:00:00.000Z');
      const now = fixture.clock.now();
      expect(body).to.deep.include({
        from: day(now - 144 * HOUR_MS),
        to: day(now + 24 * HOUR_MS),
        by: 'day',
      });
      for (const { at } of body.rows) expect(at).to.match(/T00:00:00\.000Z$/);
      expect(body.rows.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0)).to.equal(4);
    });

    it('counts the whole time that is asked for, of a tenant or a pipeline', async () => {
      const all = (await read(`?by=total&from=${hour(0)}&to=${hour(3)}`)).body.rows;
      expect(all.map(({ tenant_id, at, succeeded }) => [tenant_id, at, succeeded])).to.deep.equal([
        ['x', hour(0), 2],
        ['y', hour(0), 1],
      ]);
      const first = await read(`?by=total&from=${hour(0)}&to=${hour(1)}&tenant_id=x`);
      expect(first.body.rows[0]).to.include({ succeeded: 1, failed: 1 });
      expect((await read('?pipeline_id=another')).body.rows).to.deep.equal([]);
      const rounded = await read(`?by=hour&from=${hour(0).replace('00:00.000', '59:59.999')}&tenant_id=x`);
      expect(rounded.body.from).to.equal(hour(0));
      expect(rounded.body.rows).to.have.length(2);
    });

    it('has pages', async () => {
      const rows: PipelineStatistics[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { body } = await read(`?by=hour&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
        expect(body.rows).to.have.length(1);
        rows.push(...body.rows);
        cursor = body.next_cursor;
      }
      expect(rows).to.deep.equal((await read('?by=hour')).body.rows);
      expect(rows).to.have.length(3);
    });

    it('refuses what is no time, no period and no cursor', async () => {
      for (const [query, reason] of [
        ['from=yesterday', /"from" must be an ISO 8601 time with its zone/],
        ['to=2026-01-31', /"to" must be an ISO 8601 time with its zone/],
        [`from=${hour(1)}&to=${hour(1)}`, /the time to count ends before it begins/],
        ['by=week', /"by"/],
        ['cursor=r12', /cursor must be the next_cursor/],
        ['limit=5001', /"limit"/],
      ] as const) {
        const { status, body } = await read(`?${query}`);
        expect(status, query).to.equal(400);
        expect(body.detail.message).to.match(reason);
      }
    });
  });
}

describe('The statistics of a server with keys (D37)', () => {
  let server: TestServer;
  before(async () => {
    const keys = [
      createApiKey('alice', ['alice']),
      createApiKey('bob', ['bob'], ['read']),
      createApiKey('runner', ['alice'], ['run']),
    ];
    server = await startTestServer({ keys, store: new MemoryStore(createDisk()) });
  });
  after(() => server.close(0));

  const as = (key: string) => ({ 'x-api-key': key });
  const read = (key: string, query = '') =>
    server.request<StatisticsPage>('GET', `/pipelines/stats${query}`, undefined, as(key));

  it('count synchronous runs, which are forgotten once they are answered, for their tenant alone', async () => {
    for (let run = 0; run < 3; run++) {
      const { status } = await server.request('POST', '/pipelines/run', { pipeline: HELLO }, as('alice'));
      expect(status).to.equal(200);
    }
    const list = await server.request<{ runs: unknown[] }>('GET', '/pipelines/runs', undefined, as('alice'));
    expect(list.body.runs).to.deep.equal([]);
    const { rows } = (await read('alice')).body;
    expect(rows).to.have.length(1);
    expect(rows[0]).to.include({ pipeline_id: 'hello', tenant_id: 'alice', succeeded: 3 });
    for (const query of ['', '?tenant_id=alice', '?pipeline_id=hello']) {
      expect((await read('bob', query)).body.rows, query).to.deep.equal([]);
    }
    const cursor = Buffer.from('["alice","",0]').toString('base64url');
    expect((await read('bob', `?cursor=${cursor}`)).body.rows).to.deep.equal([]);
  });

  it('need the scope read', async () => {
    expect((await read('runner')).status).to.equal(403);
  });
});
