import type Database from 'libsql';
import type { RunEnd } from '../../run-archive.js';
import { END_STATES } from './run-columns.js';
import { inTransaction, prepare, selectOne } from './statements.js';

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
  if (keep?.runs === undefined) {
    prepare(database, 'DELETE FROM run_quota WHERE tenant = ? AND pipeline = ? AND said_by < ?').run(
      tenant,
      pipeline,
      number,
    );
  } else {
    prepare(
      database,
      `INSERT INTO run_quota (tenant, pipeline, most, said_by) VALUES (?, ?, ?, ?)
       ON CONFLICT (tenant, pipeline) DO UPDATE SET most = excluded.most, said_by = excluded.said_by
       WHERE said_by < excluded.said_by`,
    ).run(tenant, pipeline, keep.runs, number);
  }
  countInQuota(database, tenant, number, 1);
}

/** Counts a settled run, or with -1 no longer. One that nobody has counted yet is counted with the others. */
export function countInQuota(database: Database.Database, tenant: string, number: number, by: 1 | -1): void {
  prepare(
    database,
    `UPDATE run_quota SET settled = settled + ?
     WHERE tenant = ? AND pipeline = (SELECT pipeline FROM run WHERE number = ?) AND settled IS NOT NULL`,
  ).run(by, tenant, number);
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
    prepare(database, 'UPDATE run_quota SET settled = ? WHERE tenant = ? AND pipeline = ?').run(
      countRuns(database, tenant, pipeline),
      tenant,
      pipeline,
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
