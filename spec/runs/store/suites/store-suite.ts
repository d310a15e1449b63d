import { expect } from 'chai';
import type { Json } from '../../../../lib/common/json/json.js';
import type { Fact } from '../../../../lib/execution/history/fact.js';
import type { SourcePart } from '../../../../lib/runs/rerun/source-parts.js';
import type { StoredRunHead } from '../../../../lib/runs/store/run-archive.js';
import type { RunStore, StoredRun } from '../../../../lib/runs/store/run-store.js';

/** The place where a store keeps its runs, for one spec. */
export interface StorePlace {
  /** Opens the store: empty at first, later with what it kept. One at a time. */
  open(): Promise<RunStore>;
  /** Opens a second store with what the disk has now, as after a crash: the first one is still open. */
  openAfterCrash(): Promise<RunStore>;
  /** Makes the commit that is collected now fail. */
  spoilCommit(store: RunStore): void;
  /** Closes what is open, and removes everything. */
  remove(): Promise<void>;
}

export function storedRun(number: number, id = `run ${number}`): StoredRun {
  return {
    id,
    number,
    createdAt: number,
    submission: {
      kind: 'pipeline',
      definition: { id: 'p' },
      tenant_id: 'default',
      submitted_keys: { params: [], inputs: [] },
    },
  };
}

export function cancelFact(at: number): Fact {
  return { kind: 'cancel', at, force: false };
}

function outcomeFact(task: string, value: Json): Fact {
  return {
    kind: 'succeeded',
    at: 1,
    place: '',
    task,
    item: -1,
    value,
    writes: [{ key: task, value, append: true, sizeBytes: 1 }],
    attempts: 1,
    bytes: JSON.stringify(value).length,
  };
}

function sourceParts(value: string): SourcePart[] {
  return [
    { part: 'source', forced: [['is new', ['a']]], failed: ['b'], given_bytes: 5, given: {} },
    { part: 'outcome', task: 'c', bytes: value.length, length: 2 },
    {
      part: 'items',
      items: [
        [0, value],
        [1, null],
      ],
    },
    { part: 'complete' },
  ];
}

/** Lists the runs with what they were accepted with. */
export async function listRuns(store: RunStore): Promise<StoredRun[]> {
  const runs: StoredRun[] = [];
  for await (const { id, number, createdAt } of store.heads()) {
    const submission = await store.submission(id);
    if (submission !== undefined) runs.push({ id, number, createdAt, submission });
  }
  return runs;
}

/** The contract of `RunStore` (D68). Every store passes it. */
export function storeSuite(name: string, createPlace: () => StorePlace): void {
  describe(`The contract of a store of runs, kept by ${name} (D68)`, () => {
    let place: StorePlace;
    let store: RunStore;

    beforeEach(async () => {
      place = createPlace();
      store = await place.open();
    });

    afterEach(() => place.remove());

    async function reopen(): Promise<RunStore> {
      await store.close();
      store = await place.open();
      return store;
    }

    it('is empty at first', async () => {
      expect(store.lastNumber).to.equal(0);
      expect(await listRuns(store)).to.deep.equal([]);
      expect(await store.facts('run 1')).to.deep.equal([]);
      await store.idle();
      expect(store.place).to.be.a('string').that.is.not.equal('');
    });

    it('lists the runs in their order, with their tenants and keys, and says which have settled', async () => {
      const idempotency = { key: 'k', fingerprint: 'f' };
      for (let number = 1; number <= 4; number++) {
        const run = storedRun(number);
        store.add(number === 4 ? { ...run, submission: { ...run.submission, idempotency } } : run);
        const log = store.log(`run ${number}`, 'default');
        log.append(cancelFact(number));
        if (number % 2 === 1) log.append({ kind: 'settled', at: number });
      }
      const again = await reopen();
      const heads: StoredRunHead[] = [];
      for await (const head of again.heads()) heads.push(head);
      expect(heads.map(({ number, hasSettled }) => [number, hasSettled])).to.deep.equal([
        [1, true],
        [2, false],
        [3, true],
        [4, false],
      ]);
      expect(heads[3]).to.deep.include({ id: 'run 4', tenantId: 'default', idempotency });
      expect(heads[0]?.idempotency).to.equal(undefined);
      expect(again.lastNumber).to.equal(4);
      expect(await again.submission('run 5')).to.equal(undefined);
    });

    it('gives back runs and facts in their order when it is opened again', async () => {
      const log = store.log('run 2', 'default');
      store.add(storedRun(1));
      store.add(storedRun(2));
      for (let at = 0; at < 3; at++) log.append(cancelFact(at));
      await log.committed();
      log.append(cancelFact(3));
      const again = await reopen();
      expect(again.lastNumber).to.equal(2);
      expect(await listRuns(again)).to.deep.equal([storedRun(1), storedRun(2)]);
      expect(await again.facts('run 1')).to.deep.equal([]);
      expect(await again.facts('run 2')).to.deep.equal([0, 1, 2, 3].map(cancelFact));
    });

    it('goes on with the facts of a run that an earlier process has added', async () => {
      store.add(storedRun(1));
      store.log('run 1', 'default').append(cancelFact(1));
      const again = await reopen();
      again.log('run 1', 'default').append(cancelFact(2));
      await again.idle();
      expect(await again.facts('run 1')).to.deep.equal([1, 2].map(cancelFact));
    });

    it('has after a crash what it said was kept', async () => {
      store.add(storedRun(1));
      store.log('run 1', 'default').append(cancelFact(1));
      await store.idle();
      store.add(storedRun(2));
      await store.log('run 2', 'default').committed();
      const crashed = await place.openAfterCrash();
      expect(await listRuns(crashed)).to.deep.equal([storedRun(1), storedRun(2)]);
      expect(await crashed.facts('run 1')).to.deep.equal([cancelFact(1)]);
    });

    it('keeps nothing of a commit that fails, reports the failure once, and promises nothing from then on', async () => {
      const failures: Error[] = [];
      store.onFailure((error) => void failures.push(error));
      store.add(storedRun(1));
      await store.idle();
      store.log('run 1', 'default').append(cancelFact(1));
      store.add(storedRun(2));
      place.spoilCommit(store);
      let promises = 0;
      const promise = (): void => void promises++;
      void store.log('run 1', 'default').committed().then(promise);
      void store.log('run 1', 'default').committed().then(promise);
      await reopenedAfterFailure(failures);
      store.log('run 1', 'default').append(cancelFact(2));
      void store.log('run 1', 'default').committed().then(promise);
      const crashed = await place.openAfterCrash();
      expect(await listRuns(crashed)).to.deep.equal([storedRun(1)]);
      expect(await crashed.facts('run 1')).to.deep.equal([]);
      expect(promises).to.equal(0);
      expect(failures).to.have.length(1);
      expect(failures[0]?.message).to.not.equal('');
    });

    /** Waits until the failure was reported, and for a turn in which it could be reported again. */
    async function reopenedAfterFailure(failures: readonly Error[]): Promise<void> {
      while (failures.length === 0) await nextTurn();
      await nextTurn();
    }

    it('keeps the facts of many runs of one commit apart, and each in its order', async () => {
      const runs = Array.from({ length: 50 }, (_, at) => storedRun(at + 1));
      for (const run of runs) store.add(run);
      for (let at = 0; at < 20; at++) {
        for (const { id, number } of runs)
          if (number % 2 === 1) store.log(id, 'default').append(cancelFact(at));
      }
      await store.idle();
      for (let at = 20; at < 40; at++) {
        for (const { id, number } of runs)
          if (number % 3 === 1) store.log(id, 'default').append(cancelFact(at));
      }
      const again = await reopen();
      for (const { id, number } of runs) {
        const early = number % 2 === 1 ? range(0, 20) : [];
        const late = number % 3 === 1 ? range(20, 40) : [];
        expect(await again.facts(id), id).to.deep.equal([...early, ...late].map(cancelFact));
      }
    });

    for (const id of ['__proto__', 'constructor', 'a/../b', '.', 'CON', 'ä\u{1f600}', 'x\'"; --']) {
      it(`keeps a task, a key and a value that are named ${JSON.stringify(id)}`, async () => {
        const value = Object.fromEntries([[id, { [id]: id }]]);
        const fact = outcomeFact(id, value);
        store.add({ ...storedRun(1), submission: { ...storedRun(1).submission, inputs: value } });
        store.log('run 1', 'default').append(fact);
        const again = await reopen();
        expect(await again.facts('run 1')).to.deep.equal([fact]);
        const [run] = await listRuns(again);
        expect(Object.entries(run?.submission.inputs ?? {})).to.deep.equal(Object.entries(value));
      });
    }

    it('keeps any text: NUL, lone surrogates, quotes, line ends, numbers as they are', async () => {
      const value = {
        text: '\u0000 \ud800 \udc00 \u{1f600} " \\ \' \n \r\n \u2028 \ufeff',
        numbers: [0, 0.1, 1e300, -1e-300, Number.MAX_SAFE_INTEGER],
        others: [null, true, false, '', [], {}],
      };
      const fact = outcomeFact('a\u0000b', value);
      const run = { ...storedRun(1), submission: { ...storedRun(1).submission, inputs: value } };
      store.add(run);
      store.log('run 1', 'default').append(fact);
      const again = await reopen();
      expect(await listRuns(again)).to.deep.equal([run]);
      expect(await again.facts('run 1')).to.deep.equal([fact]);
    });

    it('keeps 10 MiB in one value, in a submission and in a fact', async () => {
      const long = '0123456789abcdef'.repeat((10 * 2 ** 20) / 16);
      store.add({ ...storedRun(1), submission: { ...storedRun(1).submission, inputs: { long } } });
      store.log('run 1', 'default').append(outcomeFact('a', long));
      store.log('run 1', 'default').append(cancelFact(2));
      const again = await reopen();
      const [run] = await listRuns(again);
      expect(run?.submission.inputs?.['long'] === long).to.equal(true);
      const [outcome, last] = await again.facts('run 1');
      expect((outcome as { readonly value?: unknown }).value === long).to.equal(true);
      expect(last).to.deep.equal(cancelFact(2));
    });

    it('gives the runs in the order of their acceptance, however many they are', async () => {
      for (let number = 1; number <= 250; number++)
        store.add(storedRun(number, `id ${(number * 7919) % 251}`));
      await store.idle();
      expect((await listRuns(store)).map(({ number }) => number)).to.deep.equal(range(1, 251));
      expect((await reopen()).lastNumber).to.equal(250);
    });

    it('removes a run with its facts, and what is noted of it later', async () => {
      store.add(storedRun(1));
      store.add(storedRun(2));
      store.log('run 1', 'default').append(cancelFact(1));
      store.log('run 2', 'default').append(cancelFact(2));
      await store.idle();
      store.remove('run 1');
      store.log('run 1', 'default').append(cancelFact(3));
      await store.idle();
      const again = await reopen();
      expect(await listRuns(again)).to.deep.equal([storedRun(2)]);
      expect(await again.facts('run 1')).to.deep.equal([]);
      expect(await again.facts('run 2')).to.deep.equal([cancelFact(2)]);
    });

    it('keeps nothing of a run that is added and removed in the same turn', async () => {
      store.add(storedRun(1));
      store.log('run 1', 'default').append(cancelFact(1));
      store.remove('run 1');
      const again = await reopen();
      expect(await listRuns(again)).to.deep.equal([]);
      expect(await again.facts('run 1')).to.deep.equal([]);
    });

    it('keeps what a rerun may reuse with its submission, part by part, before its facts', async () => {
      const value = 'x'.repeat(300_000);
      for (const [number, bytes] of [
        [1, 100],
        [2, 1_000_000],
      ] as const) {
        const run = storedRun(number);
        const rerun = { ...run, submission: { ...run.submission, rerun: { run_id: 'run 0' } } };
        store.add(rerun, { bytes, parts: sourceParts(value) });
        store.log(rerun.id, 'default').append(cancelFact(number));
      }
      const again = await reopen();
      for (const number of [1, 2]) {
        const kept = await again.facts(`run ${number}`);
        expect(kept, `run ${number}`).to.deep.equal([...sourceParts(value), cancelFact(number)]);
      }
    });

    it('keeps nothing more of a rerun that is removed while what it may reuse is being kept', async () => {
      const run = storedRun(1);
      store.add(run, { bytes: 10_000_000, parts: sourceParts('x'.repeat(2_000_000)) });
      store.add(storedRun(2));
      await store.log('run 2', 'default').committed();
      store.remove('run 1');
      await store.log('run 1', 'default').committed();
      expect(await listRuns(await reopen())).to.deep.equal([storedRun(2)]);
    });

    it('keeps the keys of runs that are no longer kept, and replaces one that is used again', async () => {
      const key = {
        tenantId: 'a b',
        key: 'k',
        fingerprint: 'f',
        runId: 'run 1',
        lastStatus: 'failed',
      } as const;
      const keys = [
        { ...key, expiresAt: 1 },
        { ...key, tenantId: 'a', key: 'b k', expiresAt: 2 },
        { ...key, key: 'gone', expiresAt: 3 },
      ];
      for (const each of keys) store.addKey(each);
      await store.idle();
      store.removeKey('a b', 'gone');
      const again = await reopen();
      expect(await again.keys()).to.deep.equal(keys.slice(0, 2));
      again.addKey({ ...key, runId: 'run 2', expiresAt: 4 });
      expect((await (await reopen()).keys()).map(({ runId }) => runId)).to.deep.equal(['run 1', 'run 2']);
    });

    it('closes when everything so far is kept', async () => {
      store.add(storedRun(1));
      const log = store.log('run 1', 'default');
      for (let at = 0; at < 1000; at++) log.append(cancelFact(at));
      expect(await (await reopen()).facts('run 1')).to.have.length(1000);
    });

    it('can be closed again', async () => {
      await store.close();
      await store.close();
    });
  });
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
