import { expect } from 'chai';
import fc from 'fast-check';
import type { RunSummary } from '../../../../lib/common/wire/run-summary.js';
import type { RunStore } from '../../../../lib/runs/store/run-store.js';
import type {
  PipelineStatistics,
  StatisticsPeriod,
  StatisticsQuery,
} from '../../../../lib/runs/store/statistics/statistics-query.js';
import { cases } from '../../../support/measuring/cases.js';
import { summaryOf } from '../suites/archive-suite.js';
import { storedRun, type StorePlace } from '../suites/store-suite.js';

const HOUR_MS = 3_600_000;
const UNLIMITED = {
  ttlMs: Number.POSITIVE_INFINITY,
  maxRuns: Number.POSITIVE_INFINITY,
  maxBytes: Number.POSITIVE_INFINITY,
};

/** The value of the nearest rank. */
export function exactQuantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? null;
}

/** A settled run, as the specs choose it. */
interface ChosenRun {
  readonly tenant: string;
  readonly pipeline: string;
  readonly status: 'succeeded' | 'failed' | 'cancelled';
  readonly finishedAt: number;
  /** Null for a run that has never started. */
  readonly durationMs: number | null;
  readonly cost: number | undefined;
}

const ANY_TIME = { by: 'total', fromHour: 0, toHour: 1_000_000, limit: 100 } as const;

/** The contract of the statistics of `RunArchive` (D74). Every store with an archive passes it. */
export function statisticsSuite(name: string, createPlace: () => StorePlace): void {
  describe(`The contract of statistics, counted by ${name} (D74)`, () => {
    let place: StorePlace;
    let store: RunStore;

    beforeEach(async () => {
      place = createPlace();
      store = await place.open();
    });

    afterEach(() => place.remove());

    function settle(number: number, run: Partial<ChosenRun> = {}): void {
      const { tenant = 'default', durationMs = 5, finishedAt = 10, cost, pipeline = 'p' } = run;
      const changes: Partial<RunSummary> = {
        tenant_id: tenant,
        pipeline_id: pipeline,
        status: run.status ?? 'succeeded',
        started_at: durationMs === null ? null : new Date(finishedAt - durationMs).toISOString(),
        finished_at: new Date(finishedAt).toISOString(),
      };
      const stored = storedRun(number);
      const submission = { ...stored.submission, tenant_id: tenant };
      store.add({ ...stored, submission });
      store.log(stored.id, tenant).append({ kind: 'settled', at: finishedAt });
      store.archive?.end({ summary: summaryOf(stored, changes), cost, artifactCount: 0, artifactBytes: 0 });
    }

    /** Reads the pages one after another. */
    async function read(query: Partial<StatisticsQuery> = {}): Promise<PipelineStatistics[]> {
      const found: PipelineStatistics[] = [];
      const whole = { ...ANY_TIME, ...query };
      for (let { after } = whole; ; ) {
        const page = await store.archive?.statistics({ ...whole, after }, 'default');
        found.push(...(page?.rows ?? []));
        expect(page?.rows.length).to.be.at.most(whole.limit);
        if (page?.next === undefined) return found;
        after = page.next;
      }
    }

    it('counts the runs of each pipeline by hour, day or altogether, on pages of any size', async () => {
      const tenants = ['a', 'b', 'c'];
      const chosen: fc.Arbitrary<ChosenRun> = fc.record({
        tenant: fc.constantFrom(...tenants),
        pipeline: fc.constantFrom('p', 'Q', 'r'),
        status: fc.constantFrom('succeeded', 'failed', 'cancelled'),
        finishedAt: fc.integer({ min: 20 * HOUR_MS, max: 75 * HOUR_MS }),
        durationMs: fc.option(fc.oneof(fc.nat(20), fc.nat(20 * HOUR_MS))),
        cost: fc.option(fc.constantFrom(0, 0.25, 2), { nil: undefined }),
      });
      const queried = fc
        .record({
          tenants: fc.constantFrom(undefined, ['a'], ['c', 'b'], [], ['nobody'], tenants),
          pipeline_id: fc.constantFrom(undefined, 'p', 'Q', 'x'),
          by: fc.constantFrom<StatisticsPeriod>('hour', 'day', 'total'),
          fromHour: fc.constantFrom(0, 24, 48),
          hours: fc.integer({ min: 1, max: 80 }),
          limit: fc.integer({ min: 1, max: 7 }),
        })
        .map(({ hours, ...query }) => ({ ...query, toHour: query.fromHour + hours }));
      const shape = [
        fc.array(chosen, { maxLength: 60, size: 'max' }),
        fc.array(queried, { minLength: 6, maxLength: 6 }),
      ] as const;
      await fc.assert(
        fc.asyncProperty(...shape, async (runs, queries) => {
          await place.remove();
          place = createPlace();
          store = await place.open();
          for (const [index, run] of runs.entries()) {
            settle(index + 1, run);
            // The runs of an hour come with one commit, and with several.
            if (index % 7 === 0) await store.idle();
          }
          await store.idle();
          for (const query of queries) assertClose(await read(query), expectedRows(runs, query));
        }),
        cases(60),
      );
    });

    it('keeps the statistics of runs that were removed or have exceeded the limits', async () => {
      for (let number = 1; number <= 6; number++) settle(number, { finishedAt: number });
      await store.idle();
      store.remove('run 1');
      await store.archive?.prune({ ...UNLIMITED, maxRuns: 2 }, 1000);
      expect(await store.archive?.count({ limit: 1 }, '')).to.include({ succeeded: 2 });
      expect(await read())
        .to.have.length(1)
        .and.to.have.nested.property('[0].succeeded', 6);
    });

    it('counts the end of a run once, also after a crash, and none of a run that was removed before', async () => {
      settle(1);
      await store.idle();
      store.archive?.end({ summary: summaryOf(storedRun(1)), cost: 1, artifactCount: 0, artifactBytes: 0 });
      await store.idle();
      store.add(storedRun(2));
      await store.idle();
      store.remove('run 2');
      store.add(storedRun(3));
      await store.log('run 3', 'default').committed();
      store.archive?.end({ summary: summaryOf(storedRun(2)), cost: 1, artifactCount: 0, artifactBytes: 0 });
      await store.idle();
      store = await place.openAfterCrash();
      const at = '1970-01-01T00:00:00.000Z';
      const counts = { succeeded: 1, failed: 0, cancelled: 0 };
      expect(await read()).to.deep.equal([
        { pipeline_id: 'p', tenant_id: 'default', at, ...counts, p50_ms: 5, p95_ms: 5 },
      ]);
    });

    it('deletes statistics after 400 days', async () => {
      const day = 24 * HOUR_MS;
      settle(1, { finishedAt: 10 * day });
      settle(2, { finishedAt: 11 * day });
      await store.idle();
      await store.archive?.prune(UNLIMITED, 410 * day + HOUR_MS - 1);
      expect(await read({ by: 'day' })).to.have.length(2);
      await store.archive?.prune(UNLIMITED, 410 * day + HOUR_MS);
      expect((await read({ by: 'day' })).map(({ at }) => at)).to.deep.equal(['1970-01-12T00:00:00.000Z']);
    });

    it('goes on after a place of another query only with the tenants and the pipeline of this one', async () => {
      for (const [index, tenant] of ['a', 'b', 'c'].entries()) {
        for (const [other, pipeline] of ['p', 'q', 'r'].entries())
          settle(index * 3 + other + 1, { tenant, pipeline });
      }
      await store.idle();
      const after = { tenantId: 'b', pipelineId: 'q', hour: -1 };
      const rows = await read({ by: 'hour', tenants: ['a', 'b', 'c'], pipeline_id: 'r', after });
      expect(rows.map(({ tenant_id, pipeline_id }) => tenant_id + pipeline_id)).to.deep.equal(['br', 'cr']);
      expect(await read({ by: 'hour', tenants: ['a'], after })).to.deep.equal([]);
    });
  });
}

/** Rows with exact durations, counted one by one. */
function expectedRows(
  runs: readonly ChosenRun[],
  { tenants, pipeline_id, by, fromHour, toHour }: Omit<StatisticsQuery, 'limit'>,
): PipelineStatistics[] {
  const groups = new Map<string, ChosenRun[]>();
  for (const run of runs) {
    const { tenant, pipeline, finishedAt } = run;
    if (finishedAt < fromHour * HOUR_MS || finishedAt >= toHour * HOUR_MS) continue;
    if (tenants?.includes(tenant) === false || (pipeline_id ?? pipeline) !== pipeline) continue;
    const periods = {
      hour: new Date(finishedAt).toISOString().replace(/:.*/, ':00:00.000Z'),
      day: new Date(finishedAt).toISOString().replace(/T.*/, 'T00:00:00.000Z'),
      total: new Date(fromHour * HOUR_MS).toISOString(),
    };
    const key = `${tenant} ${pipeline} ${periods[by]}`;
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, group]) => toRow(key, group));
}

function toRow(key: string, group: readonly ChosenRun[]): PipelineStatistics {
  const [tenant_id = '', pipeline_id = '', at = ''] = key.split(' ');
  const count = (status: string): number => group.filter((run) => run.status === status).length;
  const durations = group.flatMap(({ durationMs }) => durationMs ?? []);
  const costs = group.flatMap(({ cost }) => cost ?? []);
  return {
    tenant_id,
    pipeline_id,
    at,
    succeeded: count('succeeded'),
    failed: count('failed'),
    cancelled: count('cancelled'),
    p50_ms: exactQuantile(durations, 0.5),
    p95_ms: exactQuantile(durations, 0.95),
    ...(costs.length > 0 && { cost: costs.reduce((sum, cost) => sum + cost, 0) }),
  };
}

/** Durations are estimates; all else is exact. */
function assertClose(found: readonly PipelineStatistics[], exact: readonly PipelineStatistics[]): void {
  const withoutDurations = (rows: readonly PipelineStatistics[]) =>
    rows.map(({ p50_ms: _, p95_ms: __, ...counts }) => counts);
  expect(withoutDurations(found)).to.deep.equal(withoutDurations(exact));
  for (const [index, row] of found.entries()) {
    for (const share of ['p50_ms', 'p95_ms'] as const) {
      const expected = exact[index]?.[share] ?? null;
      if (expected === null) expect(row[share]).to.equal(null);
      else expect(Math.abs((row[share] ?? -1) - expected)).to.be.at.most(0.05 * expected);
    }
  }
}
