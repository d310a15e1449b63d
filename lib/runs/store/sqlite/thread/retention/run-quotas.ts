import type Database from 'libsql';
import { MAX_QUOTAS } from '../../../../../common/limits.js';
import type { RunEnd } from '../../../run-archive.js';
import { END_STATES } from '../run-columns.js';
import { inTransaction, prepare, selectOne } from '../statements.js';

/**
 * The numbers of settled runs that definitions keep (D74). A quota counts the runs of its pipeline, so that nobody walks
 * through them to learn that there are too many.
 */
interface ExceededQuota {
  readonly tenant: string;
  readonly pipeline: string;
  /** How many runs are too many. */
  readonly excess: number;
}

/** Takes a run that has settled into account: of all runs of a pipeline, the newest says how many are kept. */
export function setQuota(database: Database.Database, { summary, keep }: RunEnd, number: number): void {
  const { tenant_id: tenant, pipeline_id: pipeline } = summary;
  if (keep?.runs === undefined && !hasQuota(database, tenant, pipeline)) return;
  if (keep?.runs === undefined) {
    prepare(database, 'DELETE FROM run_quota WHERE tenant = ? AND pipeline = ? AND said_by < ?').run(
      tenant,
      pipeline,
      number,
    );
  } else {
    prepare(
      database,
      // Of definitions beyond the limit, the bounds of the store decide.
      `INSERT INTO run_quota (tenant, pipeline, most, said_by) SELECT ?1, ?2, ?3, ?4
       WHERE (SELECT count(*) FROM (SELECT 1 FROM run_quota WHERE tenant = ?1 LIMIT ${MAX_QUOTAS})) < ${MAX_QUOTAS}
         OR EXISTS (SELECT 1 FROM run_quota WHERE tenant = ?1 AND pipeline = ?2)
       ON CONFLICT (tenant, pipeline) DO UPDATE SET most = excluded.most, said_by = excluded.said_by
       WHERE said_by < excluded.said_by`,
    ).run(tenant, pipeline, keep.runs, number);
  }
  countInQuota(database, tenant, number, 1);
}

function hasQuota(database: Database.Database, tenant: string, pipeline: string): boolean {
  const sql = 'SELECT 1 FROM run_quota WHERE tenant = ? AND pipeline = ?';
  return selectOne(database, sql, tenant, pipeline) !== undefined;
}

/**
 * Counts a settled run, or with -1 no longer. One that nobody has counted yet is counted with the others. A quota goes with the
 * last run of its pipeline: nothing would bound the number of them.
 */
export function countInQuota(database: Database.Database, tenant: string, number: number, by: 1 | -1): void {
  prepare(
    database,
    `UPDATE run_quota SET settled = settled + ?
     WHERE tenant = ? AND pipeline = (SELECT pipeline FROM run WHERE number = ?) AND settled IS NOT NULL`,
  ).run(by, tenant, number);
  if (by === 1) return;
  prepare(
    database,
    'DELETE FROM run_quota WHERE tenant = ? AND pipeline = (SELECT pipeline FROM run WHERE number = ?) AND settled <= 0',
  ).run(tenant, number);
}

/** New quotas that are counted at once: others wait for the thread. */
const COUNTED_AT_ONCE = 50;

/** Finds a pipeline that has more settled runs than it keeps; undefined also when more are to be counted another time. */
export function findExceededQuota(database: Database.Database): ExceededQuota | undefined {
  let found: ExceededQuota | undefined;
  inTransaction(database, () => {
    found = countQuotas(database);
  });
  return found;
}

function countQuotas(database: Database.Database): ExceededQuota | undefined {
  for (let count = 0; count < COUNTED_AT_ONCE; count++) {
    const due = selectOne<{ tenant: string; pipeline: string; most: number; settled: number | null }>(
      database,
      `SELECT tenant, pipeline, most, settled FROM run_quota INDEXED BY run_quota_due
       WHERE settled IS NULL OR settled > most LIMIT 1`,
    );
    if (due === undefined) return undefined;
    const { tenant, pipeline, most, settled } = due;
    if (settled !== null) return { tenant, pipeline, excess: settled - most };
    const runs = countRuns(database, tenant, pipeline);
    const values = [tenant, pipeline];
    if (runs === 0)
      prepare(database, 'DELETE FROM run_quota WHERE tenant = ? AND pipeline = ?').run(...values);
    else
      prepare(database, 'UPDATE run_quota SET settled = ? WHERE tenant = ? AND pipeline = ?').run(
        runs,
        ...values,
      );
  }
  return undefined;
}

/** Counts once for each quota: the index is walked. */
function countRuns(database: Database.Database, tenant: string, pipeline: string): number {
  const sql = `SELECT count(*) AS runs FROM run INDEXED BY run_by_pipeline
    WHERE tenant = ? AND pipeline = ? AND state IN (${END_STATES.join(', ')}) AND state > 0`;
  return selectOne<{ runs: number }>(database, sql, tenant, pipeline)?.runs ?? 0;
}
