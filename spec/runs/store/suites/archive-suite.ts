import { expect } from 'chai';
import fc from 'fast-check';
import type { Labels } from '../../../../lib/common/wire/labels.js';
import type { StartedBy } from '../../../../lib/common/wire/started-by.js';
import type { Fact } from '../../../../lib/execution/history/fact.js';
import type { RunSummary } from '../../../../lib/common/wire/run-summary.js';
import type { ArchiveLimits, RunArchive, RunEnd } from '../../../../lib/runs/store/run-archive.js';
import type { RunStore, StoredFact, StoredRun } from '../../../../lib/runs/store/run-store.js';
import { mergePages } from '../../../../lib/runs/views/run-listing.js';
import { firstNumberAfter, type RunQuery } from '../../../../lib/runs/views/run-query.js';
import { cases } from '../../../support/measuring/cases.js';
import { storedRun, type StorePlace } from './store-suite.js';

export const UNLIMITED: ArchiveLimits = {
  ttlMs: Number.POSITIVE_INFINITY,
  maxRuns: Number.POSITIVE_INFINITY,
  maxBytes: Number.POSITIVE_INFINITY,
};

/** The end of a run that was submitted at its number, in milliseconds, and has settled after that time. */
export function summaryOf(
  { id, number, createdAt }: StoredRun,
  changes: Partial<RunSummary> = {},
): RunSummary {
  return {
    run_id: id,
    kind: 'pipeline',
    status: 'succeeded',
    paused: false,
    pipeline_id: 'p',
    tenant_id: 'default',
    goal: `goal ${number}`,
    settled: true,
    created_at: new Date(createdAt).toISOString(),
    started_at: new Date(createdAt).toISOString(),
    finished_at: new Date(createdAt + 5).toISOString(),
    progress: { waves: 2, waves_executed: 1, tasks: 3, tasks_settled: 2, invocations: 4 },
    error: null,
    error_code: null,
    failed_task: null,
    rerun_of: null,
    trigger: null,
    started_by: { kind: 'cli', name: null },
    labels: {},
    priority: 0,
    waiting_for: null,
    ...changes,
  };
}

/** Adds a run that settles at once. */
export function addSettled(
  store: RunStore,
  run: StoredRun,
  changes: Partial<RunSummary> = {},
  artifactCount = 0,
  keep?: RunEnd['keep'],
  artifactBytes = 0,
): RunSummary {
  const summary = summaryOf(run, { tenant_id: run.submission.tenant_id, ...changes });
  store.add(run);
  store.log(run.id, summary.tenant_id).append({ kind: 'settled', at: run.createdAt + 5 });
  store.archive?.end({ summary, cost: undefined, artifactCount, artifactBytes, keep });
  return summary;
}

export function runOf(number: number, tenantId: string, id = `run ${number}`): StoredRun {
  const run = storedRun(number, id);
  return { ...run, submission: { ...run.submission, tenant_id: tenantId } };
}

/** The fact that the call of an item has returned. */
export function itemFact(task: string, item: number): Fact {
  const value = `${item} `.repeat(50);
  return { kind: 'succeeded', at: 1, place: '', task, item, value, writes: [], attempts: 1, bytes: 300 };
}

/** The contract of `RunArchive` (D74). Every store with an archive passes it. */
export function archiveSuite(name: string, createPlace: () => StorePlace): void {
  describe(`The contract of an archive of settled runs, kept by ${name} (D74)`, () => {
    let place: StorePlace;
    let store: RunStore;

    beforeEach(async () => {
      place = createPlace();
      store = await place.open();
    });

    afterEach(() => place.remove());

    function archiveOf({ archive }: RunStore): RunArchive {
      if (archive === undefined) throw new Error('the store has no archive');
      return archive;
    }

    /** Reads the pages one after another. */
    async function listAll(query: RunQuery): Promise<RunSummary[]> {
      const listed: RunSummary[] = [];
      for (let cursor: string | undefined; ; ) {
        const range = { before: firstNumberAfter({ ...query, cursor }), limit: query.limit + 1 };
        const found = await archiveOf(store).page({ ...query, cursor }, range, 'default');
        const { runs, next_cursor: next } = mergePages({ runs: [] }, found, query.limit);
        listed.push(...runs);
        if (next === null) return listed;
        cursor = next;
      }
    }

    const idsOf = async (query: Partial<RunQuery> = {}): Promise<string[]> =>
      (await listAll({ limit: 50, ...query })).map(({ run_id }) => run_id);

    it('lists a run from the moment at which its last fact is kept, also after a crash, and never before', async () => {
      const run = storedRun(1);
      store.add(run);
      await store.idle();
      expect(await idsOf()).to.deep.equal([]);
      expect(await archiveOf(store).head('run 1')).to.deep.include({
        hasSettled: false,
        endStatus: undefined,
      });
      const summary = summaryOf(run, {
        status: 'failed',
        error: 'no luck',
        error_code: 'ECONNREFUSED',
        failed_task: { task_id: 'a', item: 3 },
        rerun_of: 'run 0',
        trigger: 'webhook',
        started_by: { kind: 'webhook', name: 'p' },
        labels: { team: 'billing', 'a.b': 'x: "y"' },
        progress: { ...summaryOf(run).progress, sub_pipelines: 2, sub_pipelines_settled: 1 },
      });
      store.log(run.id, 'default').append({ kind: 'settled', at: 6 });
      archiveOf(store).end({ summary, cost: 0.5, artifactCount: 2, artifactBytes: 0 });
      await store.log(run.id, 'default').committed();
      store = await place.openAfterCrash();
      expect(await listAll({ limit: 5 })).to.deep.equal([summary]);
      const heads = [];
      for await (const head of store.heads()) heads.push(head);
      expect(heads).to.deep.equal([]);
      expect(await archiveOf(store).head('run 1')).to.deep.include({ hasSettled: true, endStatus: 'failed' });
      expect(store.lastCreatedAt).to.equal(1);
    });

    it('finds the runs of every query, on pages of any size, and counts them', async () => {
      const tenants = ['a', 'b', 'c'];
      const starters: StartedBy[] = [
        { kind: 'cli', name: null },
        { kind: 'key', name: 'ci' },
        { kind: 'key', name: 'cd' },
      ];
      const ended = fc.record({
        tenant_id: fc.constantFrom(...tenants),
        pipeline_id: fc.constantFrom('p', 'Q', 'r'),
        status: fc.constantFrom('succeeded', 'failed', 'cancelled'),
        goal: fc.constantFrom('Ship it', 'GRÜSSE', '100 %_', '', 'as 00000000-0000'),
        error: fc.constantFrom(null, 'no luck: ship'),
        trigger: fc.constantFrom(null, 'schedule', 'webhook'),
        started_by: fc.constantFrom(...starters),
        labels: fc.constantFrom<Labels[]>(
          {},
          { team: 'A' },
          { team: 'b', stage: '' },
          { team: 'A', stage: 'b:c' },
        ),
        gap: fc.nat(3),
      });
      // Most filters are left out, so that queries find something.
      const option = <T>(...values: T[]) =>
        fc.oneof(
          { weight: 3, arbitrary: fc.constant(undefined) },
          { weight: 2, arbitrary: fc.constantFrom(...values) },
        );
      const queried = fc.record({
        // The last have too many parts for a union of indexes.
        tenants: option(['a'], ['b', 'c'], [], ['nobody'], tenants, [
          ...tenants,
          ...'defghijklmnopqrstuvwxyz'.split(''),
        ]),
        status: option('succeeded', 'failed', 'running', 'paused', 'cancelled'),
        pipeline_id: option('p', 'Q', 'x'),
        trigger: option('schedule'),
        startedBy: option(
          { kind: 'key', name: undefined },
          { kind: 'key', name: 'ci' },
          { kind: 'mcp', name: 'x' },
        ),
        id: option('0000-7000-8000-000000000000', '0000000', '8000', 'ABCD'),
        labels: option<string[]>([], ['team:A'], ['stage:b:c', 'team:A'], ['team:b', 'stage:'], ['team:a']),
        text: option('SHIP', 'grüsse', '0 %_', 'r', 'nowhere', '0000000', '000000000000', 'TEAM:a', 'm:b'),
        createdAfterMs: option(0, 3, 10, 20, 30),
        createdBeforeMs: option(0, 3, 10, 20, 30),
        limit: fc.integer({ min: 1, max: 7 }),
      });
      const shape = [
        fc.array(ended, { maxLength: 20 }),
        fc.array(queried, { minLength: 20, maxLength: 20 }),
      ] as const;
      const ids: string[] = [];
      await fc.assert(
        fc.asyncProperty(...shape, async (runs, queries) => {
          for (const id of ids.splice(0)) store.remove(id);
          const first = store.lastNumber + 1;
          const base = store.lastCreatedAt + 100;
          let createdAt = base;
          const expected = runs.map(({ gap, ...changes }, index) => {
            createdAt += gap;
            const number = first + index;
            const id = `${String(number).padStart(8, '0')}-0000-7000-8000-000000000000`;
            ids.push(id);
            const run = { ...runOf(number, changes.tenant_id, id), createdAt };
            return addSettled(store, run, changes);
          });
          await store.idle();
          for (const each of queries as RunQuery[]) {
            const query = withTimesFrom(each, base);
            const everyStatus = expected.filter((summary) => matches(summary, query)).toReversed();
            const { status } = query;
            const wanted = everyStatus.filter((summary) => status === undefined || summary.status === status);
            expect(await listAll(query)).to.deep.equal(wanted);
            const count = (one: string): number => everyStatus.filter((run) => run.status === one).length;
            expect(await archiveOf(store).count(query, 'a')).to.deep.equal({
              succeeded: count('succeeded'),
              failed: count('failed'),
              cancelled: count('cancelled'),
            });
          }
        }),
        cases(40),
      );
    });

    it('shows the last runs of each pipeline of a tenant', async () => {
      for (let number = 1; number <= 9; number++) {
        addSettled(store, runOf(number, number % 2 === 0 ? 'a' : 'b'), {
          pipeline_id: number < 6 ? 'p' : 'q',
        });
      }
      await store.idle();
      const definitions = [
        { tenantId: 'a', id: 'p' },
        { tenantId: 'b', id: 'p' },
        { tenantId: 'c', id: 'p' },
      ];
      const runs = await archiveOf(store).lastRuns(definitions, 2, 'a');
      expect(runs.map((list) => list.map(({ number }) => number))).to.deep.equal([[4, 2], [5, 3], []]);
    });

    it('says when the oldest settled run of some tenants was accepted, but no run of others, and none that is at work or removed', async () => {
      const archive = archiveOf(store);
      expect(await archive.oldest(undefined, '')).to.equal(undefined);
      store.add(runOf(1, 'a'));
      const statuses = ['failed', 'succeeded', 'cancelled'] as const;
      for (let number = 2; number <= 7; number++) {
        addSettled(store, runOf(number * 10, number % 2 === 0 ? 'a' : 'b'), {
          status: statuses[number % 3] ?? 'failed',
        });
      }
      await store.idle();
      const oldest = (tenants?: string[]): Promise<number | undefined> => archive.oldest(tenants, 'a');
      expect(await oldest()).to.equal(20);
      expect(await oldest(['a'])).to.equal(20);
      expect(await oldest(['b'])).to.equal(30);
      expect(await oldest(['c', 'b', 'b'])).to.equal(30);
      expect(await oldest(['c'])).to.equal(undefined);
      expect(await oldest([])).to.equal(undefined);
      store.remove('run 20');
      await store.idle();
      await archive.prune({ ...UNLIMITED, ttlMs: 100 }, 135);
      expect(await oldest()).to.equal(40);
      expect(await oldest(['b'])).to.equal(50);
    });

    it('gives back the facts of some items of a fan-out, and all that are about something else', async () => {
      const run = storedRun(1);
      store.add(run);
      const log = store.log(run.id, 'default');
      for (let item = 0; item < 3000; item++) {
        for (const task of item < 1500 ? ['each', 'other'] : ['each']) log.append(itemFact(task, item));
      }
      log.append({ kind: 'settled', at: 1 });
      archiveOf(store).end({ summary: summaryOf(run), cost: undefined, artifactCount: 0, artifactBytes: 0 });
      await store.close();
      store = await place.open();
      const all = await store.facts(run.id);
      expect(all).to.have.length(4501);
      for (const [first, last] of [
        [0, 49],
        [2000, 2010],
        [2999, 2999],
        [3000, 4000],
      ] as const) {
        const read = await store.facts(run.id, { only: { place: '', task: 'each', first, last } });
        const isNeeded = (fact: StoredFact): boolean =>
          !('item' in fact) || fact.task !== 'each' || (fact.item >= first && fact.item <= last);
        const texts = new Set(read.map((fact) => JSON.stringify(fact)));
        // In their order.
        expect(all.filter((fact) => texts.has(JSON.stringify(fact)))).to.deep.equal(read);
        expect(read.filter(isNeeded)).to.deep.equal(all.filter(isNeeded));
      }
      for (const only of [
        { place: '', task: 'none', first: 0, last: 1 },
        { place: 'sub', task: 'each', first: 0, last: 1 },
      ]) {
        expect(await store.facts(run.id, { only })).to.deep.equal(all);
      }
    });

    it('finds the run of an idempotency key, at work or settled, until it is removed', async () => {
      const idempotency = { key: 'k"', fingerprint: 'f' };
      const run = storedRun(1);
      store.add({ ...run, submission: { ...run.submission, idempotency } });
      await store.idle();
      const archive = archiveOf(store);
      expect(await archive.findKey('default', 'k"')).to.deep.include({ id: 'run 1', idempotency });
      expect(await archive.findKey('default', 'other')).to.equal(undefined);
      expect(await archive.findKey('other', 'k"')).to.equal(undefined);
      store.remove('run 1');
      await store.idle();
      await store.log('run 1', 'default').committed();
      store.add(storedRun(2));
      await store.log('run 2', 'default').committed();
      expect(await archive.findKey('default', 'k"')).to.equal(undefined);
    });

    it('deletes runs that are too old, or too many, the oldest of the tenant that has most', async () => {
      for (let number = 1; number <= 9; number++)
        addSettled(store, runOf(number * 10, number < 7 ? 'a' : 'b'));
      await store.idle();
      const archive = archiveOf(store);
      expect(await archive.prune(UNLIMITED, 1e9)).to.deep.equal([]);
      const old = await archive.prune({ ...UNLIMITED, ttlMs: 100 }, 125);
      expect(old.map(({ number, reason, status }) => [number, reason, status])).to.deep.equal([
        [10, 'age', 'succeeded'],
        [20, 'age', 'succeeded'],
      ]);
      expect(await archive.prune({ ...UNLIMITED, ttlMs: 100 }, 125)).to.deep.equal([]);
      const many = await archive.prune({ ...UNLIMITED, maxRuns: 5 }, 0);
      expect(many.map(({ number, tenantId, reason }) => [number, tenantId, reason])).to.deep.equal([
        [30, 'a', 'number'],
        [40, 'a', 'number'],
      ]);
      expect(await idsOf()).to.deep.equal(['run 90', 'run 80', 'run 70', 'run 60', 'run 50']);
      expect(await archive.head('run 30')).to.equal(undefined);
      expect(await store.facts('run 30')).to.deep.equal([]);
      expect(await archive.count({ limit: 1 }, '')).to.deep.equal({ succeeded: 5, failed: 0, cancelled: 0 });
    });

    it('does not list, count or end a run that was removed', async () => {
      const labels = { team: 'a', stage: 'b' };
      addSettled(store, storedRun(1), { labels });
      store.add(storedRun(2));
      await store.idle();
      expect(await idsOf({ labels: ['team:a'] })).to.deep.equal(['run 1']);
      for (const id of ['run 1', 'run 2']) store.remove(id);
      archiveOf(store).end({
        summary: summaryOf(storedRun(2), { labels }),
        cost: undefined,
        artifactCount: 0,
        artifactBytes: 0,
      });
      store.add(storedRun(3));
      await store.log('run 3', 'default').committed();
      await store.idle();
      for (const query of [{}, { labels: ['team:a'] }]) expect(await idsOf(query)).to.deep.equal([]);
      expect(await archiveOf(store).count({ limit: 1 }, '')).to.deep.equal({
        succeeded: 0,
        failed: 0,
        cancelled: 0,
      });
      expect(await archiveOf(store).count({ limit: 1, pipeline_id: 'p' }, '')).to.deep.equal({
        succeeded: 0,
        failed: 0,
        cancelled: 0,
      });
    });
  });
}

/** @param base milliseconds since 1970 that the times of the query count from */
function withTimesFrom(query: RunQuery, base: number): RunQuery {
  const { createdAfterMs: after, createdBeforeMs: before } = query;
  return {
    ...query,
    createdAfterMs: after === undefined ? undefined : base + after,
    createdBeforeMs: before === undefined ? undefined : base + before,
  };
}

/** The filters of a list, but for the status. */
function matches(run: RunSummary, query: RunQuery): boolean {
  const {
    tenants,
    pipeline_id,
    trigger,
    startedBy,
    labels = [],
    text,
    createdAfterMs = 0,
    createdBeforeMs = Number.POSITIVE_INFINITY,
  } = query;
  const texts = Object.entries(run.labels).map(([label, value]) => `${label}:${value}`);
  const createdAt = Date.parse(run.created_at);
  const searched = [run.pipeline_id, run.goal, run.error ?? '', ...texts].map((part) => part.toLowerCase());
  const wanted = text?.toLowerCase() ?? '';
  const part = query.id?.toLowerCase() ?? '';
  return (
    (run.run_id.startsWith(part) || run.run_id.endsWith(part)) &&
    (tenants === undefined || tenants.includes(run.tenant_id)) &&
    (pipeline_id === undefined || run.pipeline_id === pipeline_id) &&
    (trigger === undefined || run.trigger === trigger) &&
    (startedBy === undefined ||
      (run.started_by.kind === startedBy.kind &&
        (startedBy.name === undefined || run.started_by.name === startedBy.name))) &&
    labels.every((label) => texts.includes(label)) &&
    createdAt >= createdAfterMs &&
    createdAt < createdBeforeMs &&
    (searched.some((part) => part.includes(wanted)) ||
      (wanted.length >= 6 && (run.run_id.startsWith(wanted) || run.run_id.endsWith(wanted))))
  );
}
