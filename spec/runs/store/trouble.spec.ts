import { expect } from 'chai';
import * as fc from 'fast-check';
import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type Database from 'libsql';
import { WavetrainError } from '../../../lib/common/errors.js';
import { CommitQueue } from '../../../lib/runs/store/commit-queue.js';
import { readStoreStats } from '../../../lib/runs/store/maintenance/store-stats.js';
import { findDriver } from '../../../lib/runs/store/sqlite/open-errors.js';
import { SqliteStore } from '../../../lib/runs/store/sqlite/sqlite-store.js';
import { StoreThread } from '../../../lib/runs/store/sqlite/thread-client.js';
import { requireBuild, ROOT } from '../../project/files.js';
import { catchRejection } from '../../support/rejection.js';
import { useTemporaryFolder } from '../../support/temporary-folder.js';
import { asUnprivilegedUser } from '../../support/unprivileged-user.js';
import { cancelFact, listRuns, storedRun } from './suites/store-suite.js';
import { cases } from '../../support/measuring/cases.js';

const PROGRAM = join(ROOT, 'dist', 'store-thread.cjs');
const Driver = createRequire(import.meta.url)('libsql') as typeof Database;

describe('A file of runs in trouble (D68)', () => {
  let file: string;
  const opened: SqliteStore[] = [];

  before(() => requireBuild());

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });
  const folder = useTemporaryFolder();
  beforeEach(() => {
    file = folder.at('runs.db');
  });

  async function open(path = file): Promise<SqliteStore> {
    const store = await SqliteStore.open(path, PROGRAM);
    opened.push(store);
    return store;
  }

  /** Returns the message of the refusal. */
  async function refuse(path = file): Promise<string> {
    const error = await catchRejection(SqliteStore.open(path, PROGRAM));
    expect(error).to.be.instanceOf(WavetrainError).with.property('code', 'bad_usage');
    const { message } = error as WavetrainError;
    expect(message).to.match(/^the store .*runs\.db cannot be opened: /);
    return message;
  }

  /** Returns what whoever looks into the file without opening it is told. */
  async function inspect(): Promise<string> {
    return ((await catchRejection(readStoreStats(file))) as WavetrainError).message;
  }

  /** Runs statements in the file as another program would. */
  function execute(...statements: readonly string[]): void {
    const database = new Driver(file);
    for (const statement of statements) database.exec(statement);
    database.close();
  }

  async function writeRuns(count: number): Promise<void> {
    const store = await SqliteStore.open(file, PROGRAM);
    for (let number = 1; number <= count; number++) {
      store.add(storedRun(number));
      store.log(`run ${number}`, 'default').append(cancelFact(number));
    }
    await store.close();
  }

  it('is refused when a newer Wavetrain has written it, and is left as it is', async () => {
    await writeRuns(1);
    execute('PRAGMA user_version = 99');
    const before = readFileSync(file);
    expect(await refuse()).to.contain('a newer Wavetrain has written it, with version 99 of its tables');
    expect(readFileSync(file).equals(before)).to.equal(true);
    expect(await inspect()).to.contain('a newer Wavetrain has written it, with version 99 of its tables');
  });

  it('is refused when it belongs to another program, and is left as it is', async () => {
    execute('CREATE TABLE customers (name TEXT)', "INSERT INTO customers VALUES ('Ada')");
    expect(await refuse()).to.contain('another program has written it: name another file');
    expect(await inspect()).to.contain('another program has written it: name another file');
    const database = new Driver(file);
    const tables = database.prepare('SELECT name FROM sqlite_master').all();
    database.close();
    expect(tables).to.deep.equal([{ name: 'customers' }]);
  });

  it('is refused when it contains something else', async () => {
    writeFileSync(file, Buffer.alloc(8192, 'random bytes, more or less. '));
    expect(await refuse()).to.contain('it is not a database: name another file');
  });

  it('is refused when it is cut', async () => {
    await writeRuns(200);
    truncateSync(file, 4096);
    expect(await refuse()).to.contain('it is broken: restore a copy of it, or name another file');
  });

  it('is full: what was promised is there, nothing of what was not, and the failure says so', async () => {
    const thread = new StoreThread(PROGRAM, { file, driver: findDriver(), role: 'writer' });
    await thread.opened;
    await thread.ask({ kind: 'limit', pages: 60 });
    const queue = new CommitQueue(async (batch) => void (await thread.ask({ kind: 'keep', batch })));
    const failed = new Promise<Error>((resolve) => {
      queue.onFailure(resolve);
    });
    const promised: string[] = [];
    let isFull = false;
    void failed.then(() => {
      isFull = true;
    });
    for (let number = 1; !isFull; number++) {
      const run = storedRun(number);
      const inputs = { long: 'x'.repeat(20_000) };
      queue.add({ ...run, submission: { ...run.submission, inputs } });
      await Promise.race([queue.committed(run.id).then(() => promised.push(run.id)), failed]);
    }
    expect((await failed).message).to.equal(
      'the disk is full: make room, then start the server again: runs go on from what was kept',
    );
    expect(promised).to.have.length.within(2, 10);
    await thread.close();
    const again = await open();
    expect((await listRuns(again)).map(({ id }) => id)).to.deep.equal(promised);
    again.add(storedRun(100));
    await again.log('run 100', 'default').committed();
  });

  it('is refused in a folder that does not exist', async () => {
    expect(await refuse(folder.at('missing/runs.db'))).to.contain('its folder must exist and be writable');
  });

  it('is refused when the folder or the file is read-only', async () => {
    await writeRuns(1);
    await chmod(file, 0o444);
    await chmod(folder.path, 0o555);
    try {
      const message = await asUnprivilegedUser(() => refuse());
      expect(message).to.match(/its folder must exist and be writable|it is read-only/);
    } finally {
      await chmod(folder.path, 0o755);
    }
  });

  it('has after a power cut all that was promised until then, and of each run the facts up to some moment', async function () {
    // The spec opens a database many times, and other specs may be at work.
    const FACTS = 20;
    const store = await open();
    const promised = new Map<string, number>();
    const copies: PowerCut[] = [];
    let commits = 0;
    const work = async (number: number): Promise<void> => {
      store.add(storedRun(number));
      const log = store.log(`run ${number}`, 'default');
      for (let fact = 1; fact <= FACTS; fact++) {
        log.append(cancelFact(fact));
        await log.committed();
        promised.set(`run ${number}`, fact);
        // The thread is at work on what others have written meanwhile.
        if (++commits % 29 === 0) copies.push(copyAt(file, folder.at(`cut-${commits}.db`), promised));
      }
    };
    await Promise.all(Array.from({ length: 12 }, (_, at) => work(at + 1)));
    expect(copies).to.have.length.greaterThan(5);
    const parts = fc.double({ min: 0, max: 1, noNaN: true });
    const cuts = fc.tuple(fc.constantFrom(...copies), parts, fc.boolean());
    await fc.assert(
      fc.asyncProperty(cuts, async ([copy, part, isSynced]) => {
        const from = isSynced ? copy.synced : 0;
        const cut = `${copy.path}.${part}.db`;
        copyFileSync(copy.path, cut);
        const log = readFileSync(`${copy.path}-wal`);
        writeFileSync(`${cut}-wal`, log.subarray(0, from + Math.floor(part * (log.length - from))));
        const again = await open(cut);
        const runs = await listRuns(again);
        if (isSynced) {
          const ids = runs.map(({ id }) => id);
          expect(ids).to.include.members([...copy.promised.keys()]);
        }
        for (const { id } of runs) {
          const facts = await again.facts(id);
          expect(facts).to.deep.equal(facts.map((_, at) => cancelFact(at + 1)));
          if (isSynced) expect(facts).to.have.length.at.least(copy.promised.get(id) ?? 0);
        }
        await again.close();
      }),
      cases(10),
    );
  });
});

/** The files of a store at some moment. */
interface PowerCut {
  readonly path: string;
  /** Bytes of the log that were on the disk when the last promise was given. */
  readonly synced: number;
  /** How many facts of each run were promised. */
  readonly promised: ReadonlyMap<string, number>;
}

function copyAt(file: string, path: string, promised: ReadonlyMap<string, number>): PowerCut {
  const synced = statSync(`${file}-wal`).size;
  copyFileSync(file, path);
  copyFileSync(`${file}-wal`, `${path}-wal`);
  return { path, synced, promised: new Map(promised) };
}
