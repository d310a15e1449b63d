import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import type Database from 'libsql';
import { errorMessage } from '../../../../lib/common/errors.js';
import type { RunStore } from '../../../../lib/runs/store/run-store.js';
import { SqliteStore } from '../../../../lib/runs/store/sqlite/sqlite-store.js';
import { requireBuild, ROOT } from '../../../project/files.js';
import { catchRejection } from '../../../support/rejection.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { addSettled, archiveSuite, itemFact, summaryOf } from '../suites/archive-suite.js';
import { keepSuite } from '../suites/keep-suite.js';
import { cancelFact, listRuns, storedRun, type StorePlace, storeSuite } from '../suites/store-suite.js';
import { statisticsSuite } from '../statistics/statistics-suite.js';

const Driver = createRequire(import.meta.url)('libsql') as typeof Database;
const execute = promisify(execFile);
const PROGRAM = join(ROOT, 'dist', 'store-thread.cjs');

/** A file in a folder of its own. */
class SqlitePlace implements StorePlace {
  readonly #folder = new TemporaryFolder();
  readonly #opened: SqliteStore[] = [];
  readonly file = this.#folder.at('runs.db');
  readonly copy = this.#folder.at('copy.db');

  async open(file = this.file): Promise<SqliteStore> {
    const store = await SqliteStore.open(file, PROGRAM);
    this.#opened.push(store);
    return store;
  }

  async openAfterCrash(): Promise<SqliteStore> {
    await copyFile(this.file, this.copy);
    await copyFile(`${this.file}-wal`, `${this.copy}-wal`);
    return this.open(this.copy);
  }

  /** The rows of a file that is closed. */
  countRows(file = this.file): Record<'runs' | 'pieces' | 'parts' | 'definitions', number> {
    const database = new Driver(file);
    try {
      const count = (table: string): number =>
        (database.prepare(`SELECT count(*) AS rows FROM ${table}`).all() as { rows: number }[])[0]?.rows ?? 0;
      return {
        runs: count('run'),
        pieces: count('piece'),
        parts: count('packed'),
        definitions: count('definition'),
      };
    } finally {
      database.close();
    }
  }

  /** The labels that the index of a closed file has. */
  listLabels(): readonly string[] {
    const database = new Driver(this.file);
    try {
      const rows = database.prepare('SELECT label, number FROM label ORDER BY number, label').all();
      return (rows as { label: string; number: number }[]).map(({ label, number }) => `${number} ${label}`);
    } finally {
      database.close();
    }
  }

  /** Two runs have the same number. */
  spoilCommit(store: RunStore): void {
    store.add(storedRun(1, 'another one'));
  }

  write(name: string, content: string): string {
    return this.#folder.write(name, content);
  }

  async remove(): Promise<void> {
    await Promise.allSettled(this.#opened.map((store) => store.close()));
    this.#folder.remove();
  }
}

/** Counts the texts of runs that the threads are asked for meanwhile. */
async function countReads(work: () => Promise<unknown>): Promise<number> {
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its worker
  const post = Worker.prototype.postMessage;
  let reads = 0;
  Worker.prototype.postMessage = function (message: { readonly kind?: string }, ...others) {
    if (message.kind === 'chunk') reads++;
    post.call(this, message, ...others);
  };
  try {
    await work();
  } finally {
    Worker.prototype.postMessage = post;
  }
  return reads;
}

storeSuite('SqliteStore', () => new SqlitePlace());

archiveSuite('SqliteStore', () => new SqlitePlace());
statisticsSuite('SqliteStore', () => new SqlitePlace());

keepSuite('SqliteStore', () => new SqlitePlace());

describe('SqliteStore (D68)', () => {
  let place: SqlitePlace;

  before(() => requireBuild());

  beforeEach(() => {
    place = new SqlitePlace();
  });

  afterEach(() => place.remove());

  it('names what could not be kept', async () => {
    const store = await place.open();
    const failed = new Promise<Error>((resolve) => {
      store.onFailure(resolve);
    });
    store.add(storedRun(1));
    place.spoilCommit(store);
    expect((await failed).message).to.contain('UNIQUE');
  });

  it('gives room back to the disk when runs are removed, and only its user may read the file', async () => {
    const store = await place.open();
    for (let number = 1; number <= 20; number++) {
      const run = storedRun(number);
      const inputs = { long: 'x'.repeat(2 ** 20) };
      store.add({ ...run, submission: { ...run.submission, inputs } });
    }
    await store.close();
    const { size, mode } = statSync(place.file);
    expect(size).to.be.greaterThan(20 * 2 ** 20);
    expect(mode & 0o777).to.equal(0o600);
    const again = await place.open();
    for (let number = 1; number <= 20; number++) again.remove(`run ${number}`);
    await again.close();
    expect(statSync(place.file).size).to.be.lessThan(2 ** 20);
  });

  it('removes a thousand reruns, each of the one before, and leaves nothing of them in the file', async () => {
    const store = await place.open();
    for (let number = 1; number <= 1000; number++) {
      const run = storedRun(number);
      const submission = { ...run.submission, rerun: { run_id: `run ${number - 1}` } };
      const bytes = 300_000;
      const parts = [{ part: 'collected', collected: [] }, { part: 'complete' }] as const;
      store.add({ ...run, submission }, { bytes: number % 100 === 0 ? bytes : 1, parts });
      store.archive?.end({ summary: summaryOf(run), cost: undefined, artifactCount: 0, artifactBytes: 0 });
    }
    await store.idle();
    for (let number = 1; number <= 999; number++) store.remove(`run ${number}`);
    store.add(storedRun(1001));
    await store.log('run 1001', 'default').committed();
    expect((await listRuns(store)).map(({ number }) => number)).to.deep.equal([1001]);
    await store.close();
    expect(place.countRows()).to.deep.equal({ runs: 2, pieces: 1, parts: 1, definitions: 1 });
  });

  it('has the labels of settled runs in an index, until they are removed, or deleted because of a limit (D76)', async () => {
    const store = await place.open();
    for (let number = 1; number <= 4; number++) {
      addSettled(store, storedRun(number), { labels: { team: 'a', n: String(number) } });
    }
    await store.idle();
    store.remove('run 2');
    await store.idle();
    const limits = { ttlMs: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY, maxRuns: 2 };
    const pruned = await store.archive?.prune(limits, 0);
    expect(pruned?.map(({ id }) => id)).to.deep.equal(['run 1']);
    await store.close();
    expect(place.listLabels()).to.deep.equal(['3 n:3', '3 team:a', '4 n:4', '4 team:a']);
  });

  it('goes on to delete what a process had removed when it ended', async () => {
    const store = await place.open();
    for (let number = 1; number <= 600; number++) store.add(storedRun(number));
    await store.idle();
    for (let number = 1; number <= 600; number++) store.remove(`run ${number}`);
    await store.idle();
    const crashed = await place.openAfterCrash();
    expect(await listRuns(crashed)).to.deep.equal([]);
    await crashed.close();
    expect(place.countRows(place.copy)).to.deep.equal({ runs: 0, pieces: 0, parts: 0, definitions: 0 });
  });

  it('gives back long submissions, which are kept in pieces, and short ones', async () => {
    const store = await place.open();
    for (let number = 1; number <= 30; number++) {
      const run = storedRun(number);
      const inputs = { long: 'x'.repeat(number > 20 ? 10 : 2 ** 20) };
      store.add({ ...run, submission: { ...run.submission, inputs } });
    }
    await store.close();
    const lengths = (await listRuns(await place.open())).map(({ submission }) => submission.inputs?.['long']);
    expect(lengths.map((text) => (text as string).length)).to.deep.equal([
      ...Array.from({ length: 20 }, () => 2 ** 20),
      ...Array.from({ length: 10 }, () => 10),
    ]);
  });

  it('packs settled runs, their definitions once, and gives back what they were (D74)', async () => {
    const store = await place.open();
    const long = 'x'.repeat(3 * 2 ** 20);
    for (let number = 1; number <= 3; number++) {
      const run = storedRun(number);
      const inputs = number === 3 ? { long } : { number };
      store.add({ ...run, submission: { ...run.submission, inputs } });
      for (let at = 0; at < 3; at++) store.log(run.id, 'default').append(cancelFact(at));
      store.log(run.id, 'default').append({ kind: 'settled', at: 3 });
      store.archive.end({ summary: summaryOf(run), cost: undefined, artifactCount: 0, artifactBytes: 0 });
    }
    await store.idle();
    const read = async (from: RunStore): Promise<unknown> =>
      Promise.all(
        ['run 1', 'run 2', 'run 3'].map(async (id) => [await from.submission(id), await from.facts(id)]),
      );
    const before = await read(store);
    await store.close();
    // The definition of a submission in several pieces stays in it.
    expect(place.countRows()).to.deep.include({ pieces: 0, definitions: 1 });
    expect(statSync(place.file).size).to.be.lessThan(2 ** 19);
    const again = await place.open();
    expect(await read(again)).to.deep.equal(before);
    for (const id of ['run 1', 'run 2', 'run 3']) again.remove(id);
    await again.close();
    expect(place.countRows()).to.deep.equal({ runs: 0, pieces: 0, parts: 0, definitions: 0 });
  });

  it('reads only some parts of a run of which few items are looked at (D74)', async () => {
    const store = await place.open();
    const run = storedRun(1);
    store.add(run);
    for (let item = 0; item < 10_000; item++) store.log(run.id, 'default').append(itemFact('each', item));
    store.log(run.id, 'default').append({ kind: 'settled', at: 1 });
    store.archive.end({ summary: summaryOf(run), cost: undefined, artifactCount: 0, artifactBytes: 0 });
    await store.close();
    expect(place.countRows().parts).to.be.greaterThan(30);
    const again = await place.open();
    expect(await again.archive.head(run.id)).to.include({ hasItemParts: true });
    for (const first of [0, 5000, 9950]) {
      const reads = await countReads(async () => {
        const only = { place: '', task: 'each', first, last: first + 49 };
        expect((await again.facts(run.id, { only })).length).to.be.within(50, 1000);
      });
      expect(reads).to.be.at.most(2);
    }
    expect(await countReads(() => again.facts(run.id))).to.be.greaterThan(5);
  });

  it('reads a run of one part as a whole (D74)', async () => {
    const store = await place.open();
    addSettled(store, storedRun(1));
    await store.close();
    const again = await place.open();
    expect(await again.archive.head('run 1')).to.include({ hasItemParts: false });
    const only = { place: '', task: 'each', first: 0, last: 1 };
    expect(await again.facts('run 1', { only })).to.deep.equal(await again.facts('run 1'));
  });

  it('reads a run as a whole that is packed meanwhile (D74)', async () => {
    const store = await place.open();
    const run = storedRun(1);
    store.add(run);
    const log = store.log(run.id, 'default');
    for (let at = 0; at < 40_000; at++) log.append(cancelFact(at));
    log.append({ kind: 'settled', at: 0 });
    store.archive.end({ summary: summaryOf(run), cost: undefined, artifactCount: 0, artifactBytes: 0 });
    await log.committed();
    // The thread packs a slice between two of these reads.
    for (let round = 0; round < 5; round++) {
      expect((await store.facts(run.id)).length).to.equal(40_001);
    }
  });

  it('deletes the oldest runs until the file is small enough, and no more (D74)', async () => {
    const store = await place.open();
    const random = (seed: number): string => createHash('sha512').update(String(seed)).digest('base64');
    for (let number = 1; number <= 60; number++) {
      const run = storedRun(number);
      const text = Array.from({ length: 1000 }, (_, at) => random(number * 1000 + at)).join('');
      store.add({ ...run, submission: { ...run.submission, inputs: { text } } });
      store.log(run.id, 'default').append({ kind: 'settled', at: 1 });
      store.archive.end({ summary: summaryOf(run), cost: undefined, artifactCount: 0, artifactBytes: 0 });
    }
    await store.idle();
    await store.close();
    const again = await place.open();
    // Each run takes about 66 KB, all of them 4 MB.
    const limits = {
      ttlMs: Number.POSITIVE_INFINITY,
      maxRuns: Number.POSITIVE_INFINITY,
      maxBytes: 3_000_000,
    };
    let pruned = 0;
    for (let runs = await again.archive.prune(limits, 0); runs.length > 0; ) {
      expect(runs.map(({ reason }) => reason)).to.deep.equal(runs.map(() => 'bytes'));
      pruned += runs.length;
      runs = await again.archive.prune(limits, 0);
    }
    expect(pruned).to.be.within(14, 30);
    expect((await again.archive.count({ limit: 1 }, '')).succeeded).to.equal(60 - pruned);
  });

  it('refuses a second process, and a file that is none of its own', async () => {
    await place.open();
    expect(errorMessage(await catchRejection(place.open()))).to.contain(
      'another process has it open: stop that one, or name another file',
    );
    const other = place.write(
      'notes.txt',
      'no database, but a text that is long enough to be looked at'.repeat(20),
    );
    expect(errorMessage(await catchRejection(place.open(other)))).to.contain('not a database');
  });

  it('refuses other processes also after it was opened again in this one, which would release its lock', async () => {
    await place.open();
    await catchRejection(place.open());
    const program = `const Driver = require(process.argv[1]);
      new Driver(process.argv[2] + '.lock').exec('BEGIN EXCLUSIVE');`;
    const driver = createRequire(import.meta.url).resolve('libsql');
    const refused = await catchRejection(execute(process.execPath, ['-e', program, driver, place.file]));
    expect(errorMessage(refused)).to.contain('database is locked');
  });
});
