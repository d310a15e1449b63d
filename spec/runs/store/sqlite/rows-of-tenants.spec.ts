import { expect } from 'chai';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type Database from 'libsql';
import { MAX_PIPELINES_PER_HOUR, MAX_QUOTAS, OTHER_PIPELINES } from '../../../../lib/common/limits.js';
import type { RunEnd } from '../../../../lib/runs/store/run-archive.js';
import { SqliteStore } from '../../../../lib/runs/store/sqlite/sqlite-store.js';
import { requireBuild, ROOT } from '../../../project/files.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { addSettled, runOf, UNLIMITED } from '../suites/archive-suite.js';

const Driver = createRequire(import.meta.url)('libsql') as typeof Database;
const PROGRAM = join(ROOT, 'dist', 'store-thread.cjs');
const HOUR_MS = 3_600_000;

describe('The rows that a SQLite store keeps of a tenant besides its runs (D74)', () => {
  let folder: TemporaryFolder;
  let store: SqliteStore;
  let added: number;

  before(() => requireBuild());

  beforeEach(async () => {
    folder = new TemporaryFolder();
    store = await SqliteStore.open(folder.at('runs.db'), PROGRAM);
    added = 0;
  });

  afterEach(async () => {
    await store.close();
    folder.remove();
  });

  function settle(tenant: string, pipeline: string, finishedAt = 10, keep?: RunEnd['keep']): string {
    const run = runOf(++added, tenant);
    const finished_at = new Date(finishedAt).toISOString();
    addSettled(store, run, { pipeline_id: pipeline, finished_at, started_at: finished_at }, 0, keep);
    return run.id;
  }

  /** Reads the file beside the store. */
  async function read<T>(sql: string): Promise<readonly T[]> {
    await store.idle();
    const database = new Driver(folder.at('runs.db'), { readonly: true });
    try {
      return database.prepare(sql).all() as T[];
    } finally {
      database.close();
    }
  }

  const countHours = `SELECT tenant, hour, count(*) AS pipelines, sum(succeeded) AS runs FROM stat_hour
    GROUP BY tenant, hour ORDER BY tenant, hour`;
  const listQuotas = 'SELECT tenant, pipeline, most FROM run_quota ORDER BY tenant, pipeline';
  const atMost = (runs: number): RunEnd['keep'] => ({ ageMs: undefined, runs });

  it('has so many pipelines for each hour in its statistics, and counts the others together', async () => {
    const most = MAX_PIPELINES_PER_HOUR;
    for (let number = 1; number <= most + 20; number++) {
      settle('a', `p${number}`);
      if (number % 400 === 0) await store.idle();
    }
    await store.idle();
    settle('a', 'p1');
    settle('a', 'new', HOUR_MS);
    settle('b', 'new');
    expect(await read(countHours)).to.deep.equal([
      { tenant: 'a', hour: 0, pipelines: most + 1, runs: most + 21 },
      { tenant: 'a', hour: 1, pipelines: 1, runs: 1 },
      { tenant: 'b', hour: 0, pipelines: 1, runs: 1 },
    ]);
    const query = { by: 'total', fromHour: 0, toHour: 2, limit: 10, tenants: ['a'] } as const;
    const of = async (pipeline_id: string) =>
      (await store.archive.statistics({ ...query, pipeline_id }, 'a')).rows;
    expect(await of(OTHER_PIPELINES)).to.have.nested.property('[0].succeeded', 20);
    expect(await of('p1')).to.have.nested.property('[0].succeeded', 2);
  });

  it('deletes old statistics bit by bit, and leaves none', async () => {
    for (let number = 1; number <= 450; number++) settle('a', `p${number}`);
    settle('a', 'p', 400 * 24 * HOUR_MS);
    await store.idle();
    const rows: number[] = [];
    for (let round = 1; round <= 3; round++) {
      await store.archive.prune(UNLIMITED, 401 * 24 * HOUR_MS);
      rows.push((await read('SELECT hour FROM stat_hour')).length);
    }
    expect(rows).to.deep.equal([251, 51, 1]);
  });

  it('forgets how many runs a pipeline keeps when none of them is left, counted or not', async () => {
    const ids = ['p', 'q', 'r'].map((pipeline) => settle('a', pipeline, 10, atMost(5)));
    await store.idle();
    store.remove(ids[0] ?? '');
    await store.idle();
    await store.archive.prune(UNLIMITED, 0);
    expect(await read(listQuotas)).to.deep.equal([
      { tenant: 'a', pipeline: 'q', most: 5 },
      { tenant: 'a', pipeline: 'r', most: 5 },
    ]);
    store.remove(ids[1] ?? '');
    expect(await read(listQuotas)).to.deep.equal([{ tenant: 'a', pipeline: 'r', most: 5 }]);
    settle('a', 'r', 10, atMost(0));
    await store.idle();
    for (let pruned = 1; pruned > 0; ) pruned = (await store.archive.prune(UNLIMITED, 0)).length;
    expect(await read(listQuotas)).to.deep.equal([]);
  });

  it('bounds the runs of so many pipelines of a tenant by their number, and those of others of it only otherwise', async () => {
    for (let number = 1; number <= MAX_QUOTAS; number++) settle('a', `p${number}`, 10, atMost(1));
    await store.idle();
    settle('a', 'new', 10, atMost(1));
    settle('a', 'p7', 10, atMost(3));
    settle('b', 'new', 10, atMost(2));
    const quotas = await read<{ tenant: string; pipeline: string; most: number }>(listQuotas);
    expect(quotas.filter(({ tenant }) => tenant === 'a')).to.have.length(MAX_QUOTAS);
    expect(quotas.filter(({ pipeline }) => pipeline === 'new' || pipeline === 'p7')).to.deep.equal([
      { tenant: 'a', pipeline: 'p7', most: 3 },
      { tenant: 'b', pipeline: 'new', most: 2 },
    ]);
  });
});
