import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type Database from 'libsql';
import { errorMessage } from '../../../../lib/common/errors.js';
import { checkStore } from '../../../../lib/runs/store/maintenance/check-store.js';
import type { PrunedRun } from '../../../../lib/runs/store/run-archive.js';
import type { StoredRun } from '../../../../lib/runs/store/run-store.js';
import type { SqliteStore } from '../../../../lib/runs/store/sqlite/sqlite-store.js';
import { requireBuild } from '../../../project/files.js';
import { catchRejection } from '../../../support/rejection.js';
import { useTemporaryFolder } from '../../../support/temporary-folder.js';
import { execute, OLD_FILE, openStore } from '../maintenance/kept-store.js';
import { addSettled, runOf, summaryOf, UNLIMITED } from '../suites/archive-suite.js';
import { cancelFact } from '../suites/store-suite.js';

const Driver = createRequire(import.meta.url)('libsql') as typeof Database;

/** A text that cannot be packed. */
function randomText(seed: number, bytes: number): string {
  const parts = Array.from({ length: bytes / 88 }, (_, at) => {
    const hash = createHash('sha512').update(`${seed} ${at}`);
    return hash.digest('base64');
  });
  return parts.join('');
}

function withInputs(run: StoredRun, text: string): StoredRun {
  return { ...run, submission: { ...run.submission, inputs: { text } } };
}

interface Usage {
  readonly tenant: string;
  readonly bytes: number;
  readonly artifact_bytes: number;
  readonly hours: number | null;
}

describe('The bytes that each tenant has in a store (D74)', () => {
  const folder = useTemporaryFolder();
  let file: string;
  let store: SqliteStore;
  let number: number;

  before(() => requireBuild());

  beforeEach(async () => {
    file = folder.at('runs.db');
    store = await openStore(file);
    number = 0;
  });

  afterEach(() => store.close());

  const nextRun = (tenantId: string): StoredRun => runOf(++number, tenantId);

  /** Adds settled runs with so many bytes that cannot be packed. */
  function settle(tenantId: string, count: number, bytes: number): void {
    for (let n = 0; n < count; n++) {
      const run = nextRun(tenantId);
      addSettled(store, withInputs(run, randomText(run.number, bytes)));
    }
  }

  /** Waits until everything is packed. */
  async function reopen(): Promise<void> {
    await store.close();
    store = await openStore(file);
  }

  /** Deletes until nothing more is deleted. */
  async function prune(maxBytes: number): Promise<readonly PrunedRun[]> {
    const pruned: PrunedRun[] = [];
    for (let looks = 0; looks < 100; looks++) {
      const runs = await store.archive.prune({ ...UNLIMITED, maxBytes }, 0);
      if (runs.length === 0) break;
      pruned.push(...runs);
    }
    return pruned;
  }

  const count = async (tenantId: string): Promise<number> =>
    (await store.archive.count({ limit: 1, tenants: [tenantId] }, '')).succeeded;

  /** Reads a file that is closed. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- a row has the columns that the text names
  function read<R>(sql: string, from = file): readonly R[] {
    const database = new Driver(from);
    try {
      return database.prepare(sql).all() as R[];
    } finally {
      database.close();
    }
  }

  const readUsage = (): readonly Usage[] =>
    read('SELECT tenant, bytes, artifact_bytes, hours FROM usage ORDER BY tenant');

  it('include rows, what searches look at and labels: who has many of these loses them, and nobody else', async () => {
    settle('b', 60, 6000);
    const labels = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [`${'l'.repeat(60)}${at}`, 'v'.repeat(128)]),
    );
    for (let n = 0; n < 120; n++) addSettled(store, nextRun('a'), { goal: 'a'.repeat(10_000), labels });
    await reopen();
    const pruned = await prune(1_600_000);
    expect(pruned).to.have.length.within(20, 115);
    expect(new Set(pruned.map(({ tenantId }) => tenantId))).to.deep.equal(new Set(['a']));
    expect(await count('b')).to.equal(60);
  });

  it('include runs at work: the others lose nothing for them, and the server learns of it', async () => {
    settle('b', 60, 6000);
    await reopen();
    const run = nextRun('a');
    store.add(withInputs(run, randomText(1, 4_000_000)));
    store.log(run.id, 'a').append(cancelFact(1));
    await store.idle();
    const refused = await catchRejection(prune(2_000_000));
    expect(errorMessage(refused)).to.contain('none has settled runs left');
    expect(await count('b')).to.equal(60);
  });

  it('are compared with the share of each: who has more than it loses no more than that', async () => {
    settle('b', 60, 10_000);
    settle('c', 10, 10_000);
    await reopen();
    const run = nextRun('a');
    store.add(withInputs(run, randomText(1, 1_000_000)));
    await store.idle();
    const refused = await catchRejection(prune(900_000));
    expect(errorMessage(refused)).to.contain('none has settled runs left');
    expect(await count('b')).to.be.lessThan(60);
    expect(await count('c')).to.equal(10);
    await store.close();
    // Two runs take less than 20,000 bytes.
    expect(readUsage()[1]?.bytes).to.be.within(280_000, 300_000);
  });

  it('do not keep what definitions do not, where nobody has runs left to delete', async () => {
    const run = nextRun('a');
    store.add(withInputs(run, randomText(1, 1_000_000)));
    addSettled(store, nextRun('b'), {}, 0, { ageMs: 1, runs: undefined });
    await store.idle();
    const pruned = await store.archive.prune({ ...UNLIMITED, maxBytes: 500_000 }, 1e9);
    expect(pruned.map(({ reason }) => reason)).to.deep.equal(['keep']);
  });

  it('include statistics: where most bytes of the tenant with most are those, its oldest hours go', async () => {
    for (let n = 0; n < 2500; n++) {
      const run = nextRun('a');
      const pipeline_id = `${'p'.repeat(120)}${n % 500}`;
      const finished_at = new Date(3_600_000 * Math.floor(n / 500)).toISOString();
      addSettled(store, run, { pipeline_id, finished_at });
    }
    await store.idle();
    for (let n = 1; n <= 2500; n++) store.remove(`run ${n}`);
    settle('b', 60, 1000);
    await reopen();
    expect(await prune(600_000)).to.deep.equal([]);
    expect(await count('b')).to.equal(60);
    const query = { by: 'total', fromHour: 0, toHour: 9, tenants: ['a'], limit: 9999 } as const;
    const { rows } = await store.archive.statistics(query, '');
    expect(rows.reduce((sum, { succeeded }) => sum + succeeded, 0)).to.be.lessThan(1000);
    await store.close();
    expect(readUsage()[0]).to.deep.include({ tenant: 'a', bytes: 0, hours: 500 });
  });

  it('include the files of runs, which count for the limit of the store', async () => {
    settle('b', 10, 6000);
    for (let n = 0; n < 4; n++) addSettled(store, nextRun('a'), {}, 20, undefined, 180_000_000);
    await reopen();
    const pruned = await prune(400_000_000);
    expect(pruned.map(({ id, reason }) => [id, reason])).to.deep.equal([
      ['run 11', 'bytes'],
      ['run 12', 'bytes'],
    ]);
    expect(await count('b')).to.equal(10);
  });

  it('include the files of a removed run for as long as a rerun uses them', async () => {
    addSettled(store, nextRun('a'), {}, 1, undefined, 5000);
    const run = nextRun('a');
    addSettled(
      store,
      { ...run, submission: { ...run.submission, rerun: { run_id: 'run 1' } } },
      { rerun_of: 'run 1' },
      1,
      undefined,
      300,
    );
    await store.idle();
    store.remove('run 1');
    await reopen();
    await store.close();
    expect(readUsage()).to.containSubset([{ tenant: 'a', artifact_bytes: 5300 }]);
    store = await openStore(file);
    store.remove('run 2');
    await reopen();
    await store.close();
    expect(readUsage()).to.containSubset([{ tenant: 'a', artifact_bytes: 0, bytes: 0 }]);
  });

  it('are counted beside the work for a file of an earlier version, and are then what they would be in a new one', async () => {
    settle('a', 30, 3000);
    settle('b', 20, 700_000);
    for (let n = 0; n < 150; n++)
      addSettled(store, nextRun('c'), { labels: { team: 'ä' }, error: 'no', pipeline_id: `p${n}` });
    const atWork = nextRun('c');
    const idempotency = { key: 'k', fingerprint: 'f' };
    store.add({ ...atWork, submission: { ...atWork.submission, idempotency, rerun: { run_id: 'run 1' } } });
    await store.idle();
    store.remove('run 3');
    for (let times = 0; times < 3; times++) await reopen();
    await store.close();
    const expected = readUsage();
    expect(expected.map(({ hours }) => hours)).to.deep.equal([1, 1, 150]);
    execute(
      file,
      `INSERT INTO uncounted SELECT max(number) FROM run; UPDATE run SET bytes = 7 WHERE state > 0;
       UPDATE run SET bytes = NULL WHERE state = 0; UPDATE usage SET bytes = 7 * (succeeded + failed), hours = NULL`,
    );
    await reopen();
    await store.close();
    expect(readUsage()).to.deep.equal(expected);
    expect((await checkStore(file, false)).problems).to.deep.equal([]);
  });

  it('are those of all that was kept when the process is killed, as soon as the run goes on', async () => {
    const run = nextRun('a');
    const goOn = async (opened: SqliteStore): Promise<void> => {
      opened.log(run.id, 'a').append(cancelFact(1));
      await opened.close();
    };
    const killed = folder.at('killed.db');
    store.add(withInputs(run, randomText(1, 3000)));
    await store.idle();
    for (const end of ['', '-wal']) copyFileSync(`${file}${end}`, `${killed}${end}`);
    await goOn(store);
    const expected = readUsage();
    expect(expected).to.containSubset([{ tenant: 'a' }]);
    await goOn(await openStore(killed));
    expect(read('SELECT tenant, bytes, artifact_bytes, hours FROM usage', killed)).to.deep.equal(expected);
  });

  it('are counted for a file of version 1 of the tables', async () => {
    await store.close();
    const old = folder.at('old.db');
    copyFileSync(OLD_FILE, old);
    for (let times = 0; times < 2; times++) await (await openStore(old)).close();
    const [{ bytes, length }] = read<{ bytes: number; length: number }>(
      'SELECT (SELECT sum(bytes) FROM usage) AS bytes, (SELECT sum(length(text)) FROM piece) AS length',
      old,
    ) as [{ bytes: number; length: number }];
    expect(bytes).to.be.greaterThan(length);
    expect(read('SELECT number FROM uncounted', old)).to.deep.equal([]);
    expect((await checkStore(old, false)).problems).to.deep.equal([]);
  });

  it('have nobody lose a run until those of an earlier version are counted', async () => {
    settle('b', 30, 6000);
    for (let n = 0; n < 3000; n++) addSettled(store, nextRun('a'));
    for (let times = 0; times < 2; times++) await reopen();
    await store.close();
    execute(
      file,
      `INSERT INTO uncounted SELECT max(number) FROM run; UPDATE run SET bytes = 1 WHERE tenant = 'a';
       UPDATE usage SET bytes = 3000 WHERE tenant = 'a'`,
    );
    store = await openStore(file);
    const looks = Array.from({ length: 3 }, () =>
      store.archive.prune({ ...UNLIMITED, maxBytes: 100_000 }, 0),
    );
    expect((await Promise.all(looks)).flat()).to.deep.equal([]);
    for (let times = 0; times < 3; times++) await reopen();
    const runs = await store.archive.prune({ ...UNLIMITED, maxBytes: 100_000 }, 0);
    expect(new Set(runs.map(({ tenantId }) => tenantId))).to.deep.equal(new Set(['a']));
  });

  it('are compared with those of the runs by the check of a store', async () => {
    settle('a', 2, 3000);
    addSettled(store, nextRun('b'), {}, 1, undefined, 50);
    store.add(nextRun('b'));
    await store.close();
    expect((await checkStore(file, false)).problems).to.deep.equal([]);
    execute(file, "UPDATE usage SET bytes = bytes + 1 WHERE tenant = 'a'");
    execute(file, "UPDATE usage SET artifact_bytes = 0 WHERE tenant = 'b'");
    expect((await checkStore(file, false)).problems).to.deep.equal([
      '2 tenants whose number of bytes is not that of their runs',
    ]);
    execute(file, "UPDATE usage SET hours = 9 WHERE tenant = 'a'");
    expect((await checkStore(file, false)).problems).to.contain(
      '1 tenant whose number of hours is not that of its statistics',
    );
  });

  it('are not changed by what a run adds that was removed before', async () => {
    const run = nextRun('a');
    store.add(run);
    await store.idle();
    store.remove(run.id);
    await store.idle();
    store.archive.end({
      summary: summaryOf(run, { tenant_id: 'a' }),
      cost: undefined,
      artifactCount: 1,
      artifactBytes: 9,
    });
    await store.close();
    expect(readUsage()).to.deep.equal([{ tenant: 'a', bytes: 0, artifact_bytes: 0, hours: 0 }]);
  });
});
