import { expect } from 'chai';
import type { ArchiveLimits, RunArchive, RunEnd } from '../../../../lib/runs/store/run-archive.js';
import type { RunStore } from '../../../../lib/runs/store/run-store.js';
import { addSettled, runOf, UNLIMITED } from './archive-suite.js';
import type { StorePlace } from './store-suite.js';

/** The part of the contract of `RunArchive` that is about `keep` of definitions (D74). Every store with an archive passes it. */
export function keepSuite(name: string, createPlace: () => StorePlace): void {
  describe(`The "keep" of definitions in an archive that is kept by ${name} (D74)`, () => {
    let place: StorePlace;
    let store: RunStore;

    beforeEach(async () => {
      place = createPlace();
      store = await place.open();
    });

    afterEach(() => place.remove());

    function archive(): RunArchive {
      if (store.archive === undefined) throw new Error('the store has no archive');
      return store.archive;
    }

    async function idsOf(tenant: string): Promise<string[]> {
      const range = { before: Number.POSITIVE_INFINITY, limit: 50 };
      const { runs } = await archive().page({ limit: 50, tenants: [tenant] }, range, tenant);
      return runs.map(({ summary }) => summary.run_id);
    }

    const days = (ageMs: number): RunEnd['keep'] => ({ ageMs, runs: undefined });
    const atMost = (runs: number): RunEnd['keep'] => ({ ageMs: undefined, runs });

    async function prune(limits: Partial<ArchiveLimits> = {}, now = 0): Promise<unknown[]> {
      const pruned = await archive().prune({ ...UNLIMITED, ...limits }, now);
      return pruned.map(({ number, reason }) => [number, reason]);
    }

    it('deletes a run when its own time is over, and not before, whatever age is allowed otherwise', async () => {
      addSettled(store, runOf(10, 'a'), {}, 0, days(50));
      addSettled(store, runOf(20, 'a'), {}, 0, days(1000));
      addSettled(store, runOf(30, 'a'));
      addSettled(store, runOf(40, 'b'), {}, 0, { ageMs: 1000, runs: 3 });
      await store.idle();
      expect(await prune({}, 64)).to.deep.equal([]);
      expect(await prune({}, 65)).to.deep.equal([[10, 'keep']]);
      store = await place.openAfterCrash();
      expect(await prune({}, 65)).to.deep.equal([]);
      expect(await prune({ ttlMs: 100 }, 900)).to.deep.equal([[30, 'age']]);
      expect(await prune({ ttlMs: 100 }, 900)).to.deep.equal([]);
      expect(await prune({ ttlMs: 100 }, 1045)).to.deep.equal([
        [20, 'keep'],
        [40, 'keep'],
      ]);
      expect([...(await idsOf('a')), ...(await idsOf('b'))]).to.deep.equal([]);
    });

    it('keeps as many runs of a pipeline of a tenant as its newest run says, the newest', async () => {
      for (let number = 1; number <= 4; number++) addSettled(store, runOf(number, 'a'));
      for (let number = 5; number <= 7; number++) addSettled(store, runOf(number, 'b'));
      addSettled(store, runOf(8, 'a'), { pipeline_id: 'q' });
      addSettled(store, runOf(9, 'a'), { status: 'failed' }, 0, atMost(2));
      await store.idle();
      expect(await prune()).to.deep.equal([
        [1, 'keep'],
        [2, 'keep'],
        [3, 'keep'],
      ]);
      expect(await prune()).to.deep.equal([]);
      addSettled(store, runOf(10, 'a'), {}, 0, atMost(2));
      store.remove('run 9');
      await store.idle();
      store = await place.openAfterCrash();
      expect(await prune()).to.deep.equal([]);
      addSettled(store, runOf(11, 'a'), { status: 'cancelled' }, 0, atMost(2));
      await store.idle();
      expect(await prune()).to.deep.equal([[4, 'keep']]);
      addSettled(store, runOf(12, 'a'), {}, 0, atMost(1));
      await store.idle();
      expect(await prune()).to.deep.equal([
        [10, 'keep'],
        [11, 'keep'],
      ]);
      expect(await idsOf('a')).to.deep.equal(['run 12', 'run 8']);
      expect(await idsOf('b')).to.deep.equal(['run 7', 'run 6', 'run 5']);
    });

    it('keeps no run, or any number again, when the newest says so', async () => {
      addSettled(store, runOf(1, 'a'), {}, 0, atMost(0));
      await store.idle();
      expect(await prune()).to.deep.equal([[1, 'keep']]);
      addSettled(store, runOf(2, 'a'), {}, 0, atMost(1));
      addSettled(store, runOf(3, 'a'));
      addSettled(store, runOf(4, 'a'), {}, 0, days(1000));
      await store.idle();
      expect(await prune()).to.deep.equal([]);
    });

    it('holds beside the number of all runs', async () => {
      for (let number = 1; number <= 4; number++) {
        addSettled(store, runOf(number, 'a'), {}, 0, { ageMs: 1e9, runs: 2 });
      }
      await store.idle();
      expect(await prune({ maxRuns: 3 })).to.deep.equal([[1, 'number']]);
      expect(await prune({ maxRuns: 3 })).to.deep.equal([[2, 'keep']]);
      expect(await prune({ maxRuns: 3 })).to.deep.equal([]);
    });

    it('deletes many, the oldest first', async () => {
      for (let number = 1; number <= 120; number++) {
        const status = (['succeeded', 'failed', 'cancelled'] as const)[number % 3];
        addSettled(store, runOf(number, 'a'), { status: status ?? 'failed' }, 0, atMost(5));
      }
      await store.idle();
      const deleted: unknown[] = [];
      for (let pruned = await prune(); pruned.length > 0; pruned = await prune()) deleted.push(...pruned);
      expect(deleted).to.deep.equal(Array.from({ length: 115 }, (_, index) => [index + 1, 'keep']));
    });
  });
}
