import { expect } from 'chai';
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type Database from 'libsql';
import { WavetrainError } from '../../../lib/common/errors.js';
import { CommitQueue } from '../../../lib/runs/store/commit-queue.js';
import { inspectStore } from '../../../lib/runs/store/inspect-store.js';
import { findDriver, SqliteStore, StoreThread } from '../../../lib/runs/store/sqlite-store.js';
import { requireBuild, ROOT } from '../../project/files.js';
import { catchRejection } from '../../support/rejection.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { asUnprivilegedUser } from '../../support/unprivileged-user.js';
import { cancelFact, listRuns, storedRun } from './store-suite.js';

const PROGRAM = join(ROOT, 'dist', 'store-thread.cjs');
const Driver = createRequire(import.meta.url)('libsql') as typeof Database;

describe('A file of runs in trouble (D68)', () => {
  let folder: TemporaryFolder;
  let file: string;
  const opened: SqliteStore[] = [];

  before(() => requireBuild());

  beforeEach(() => {
    folder = new TemporaryFolder();
    file = folder.at('runs.db');
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
    folder.remove();
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
    return ((await catchRejection(inspectStore(file))) as WavetrainError).message;
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
      store.add(storedRun(number), 1);
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
    const thread = new StoreThread(PROGRAM, { file, driver: findDriver() });
    await thread.opened;
    await thread.ask({ kind: 'limit', pages: 40 });
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
      queue.add({ ...run, submission: { ...run.submission, inputs } }, 20_000);
      await Promise.race([queue.committed(run.id).then(() => promised.push(run.id)), failed]);
    }
    expect((await failed).message).to.equal(
      'the disk is full: make room, then start the server again: runs go on from what was kept',
    );
    expect(promised).to.have.length.within(2, 10);
    await thread.close();
    const again = await open();
    expect((await listRuns(again)).map(({ id }) => id)).to.deep.equal(promised);
    again.add(storedRun(100), 1);
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

  it('opens as it was at one of its commits when it is copied while runs are added, also with a cut log', async () => {
    const store = await open();
    const copies: { readonly path: string; readonly kept: number }[] = [];
    for (let number = 1; number <= 20; number++) {
      store.add(storedRun(number), 1);
      store.log(`run ${number}`, 'default').append(cancelFact(number));
      await store.idle();
      if (number % 5 !== 0) continue;
      const path = folder.at(`copy-${number}.db`);
      copyFileSync(file, path);
      copyFileSync(`${file}-wal`, `${path}-wal`);
      copies.push({ path, kept: number });
    }
    for (const { path, kept } of copies) {
      const cut = `${path}.cut.db`;
      copyFileSync(path, cut);
      const log = readFileSync(`${path}-wal`);
      // Any byte, and another one for each copy.
      writeFileSync(`${cut}-wal`, log.subarray(0, (log.length * 0.618 * kept) % log.length));
      const whole = await open(path);
      expect(await listRuns(whole)).to.have.length(kept);
      const partly = await open(cut);
      const runs = await listRuns(partly);
      expect(runs).to.deep.equal(Array.from({ length: runs.length }, (_, at) => storedRun(at + 1)));
      for (const { id, number } of runs) expect(await partly.facts(id)).to.deep.equal([cancelFact(number)]);
    }
  });
});
