import type Database from 'libsql';
import type { ArchiveLimits, EndStatus, PrunedRun, PruneReason } from '../../run-archive.js';
import { pruneHours } from '../../statistics/hour-rows.js';
import { readPragma } from './cleaner.js';
import { markRemoved, type RemovableRow } from './commit.js';
import { HEAD_COLUMNS, type RunRow, toHead } from './run-heads.js';
import { END_STATES, STATES } from './run-columns.js';
import { findExceededQuota } from './run-quotas.js';
import { inTransaction, selectAll, selectOne } from './statements.js';

/** So many runs are taken out with one commit: others wait for it. */
const RUNS_PER_SLICE = 50;

/** Fewer, because the file is measured again after each slice. */
const RUNS_PER_BYTES_SLICE = 10;

const RUN_COUNT = 'succeeded + failed + cancelled';

type PrunedRow = RunRow & RemovableRow;

/**
 * Takes runs that exceed the limits out of all lists; their facts are deleted later. Returns them; none when all fit. Also
 * deletes statistics that are too old.
 */
export function prune(database: Database.Database, limits: ArchiveLimits, now: number): readonly PrunedRun[] {
  pruneHours(database, now);
  const { reason, rows } = selectPruned(database, limits, now);
  if (rows.length === 0) return [];
  const pruned = rows.map((row) => ({
    ...toHead(database, row),
    status: STATES[row.state] as EndStatus,
    reason,
  }));
  inTransaction(database, () => {
    for (const row of rows) markRemoved(database, row);
  });
  return pruned;
}

function selectPruned(
  database: Database.Database,
  { ttlMs, maxRuns, maxBytes }: ArchiveLimits,
  now: number,
): { readonly reason: PruneReason; readonly rows: readonly PrunedRow[] } {
  const expired = selectAll<PrunedRow>(
    database,
    `SELECT ${HEAD_COLUMNS}, bytes FROM run INDEXED BY run_finished
     WHERE finished_at <= ? AND state > 0 AND expires_at IS NULL ORDER BY finished_at LIMIT ${RUNS_PER_SLICE}`,
    now - ttlMs,
  );
  if (expired.length > 0) return { reason: 'age', rows: expired };
  const runs =
    selectOne<{ runs: number }>(database, `SELECT total(${RUN_COUNT}) AS runs FROM usage`)?.runs ?? 0;
  if (runs > maxRuns) return { reason: 'number', rows: selectOldest(database, RUN_COUNT, runs - maxRuns) };
  // Until the facts of the runs that were taken out are deleted, the file is as large as before.
  if (runs > 0 && measureFile(database) > maxBytes && !isDeleting(database)) {
    return { reason: 'bytes', rows: selectOldest(database, 'bytes', RUNS_PER_BYTES_SLICE) };
  }
  // Last: whoever may run a pipeline sets how many are kept.
  return { reason: 'keep', rows: selectBeyondKeep(database, now) };
}

function isDeleting(database: Database.Database): boolean {
  return (
    selectOne(database, 'SELECT 1 FROM run INDEXED BY run_removed WHERE removed = 1 LIMIT 1') !== undefined
  );
}

/** Runs that are older, or more, than their definitions say. */
function selectBeyondKeep(database: Database.Database, now: number): readonly PrunedRow[] {
  const expired = selectAll<PrunedRow>(
    database,
    `SELECT ${HEAD_COLUMNS}, bytes FROM run INDEXED BY run_expiring
     WHERE expires_at <= ? AND state > 0 AND expires_at IS NOT NULL ORDER BY expires_at LIMIT ${RUNS_PER_SLICE}`,
    now,
  );
  if (expired.length > 0) return expired;
  const exceeded = findExceededQuota(database);
  if (exceeded === undefined) return [];
  const { tenant, pipeline, excess } = exceeded;
  const ofPipeline = 'INDEXED BY run_by_pipeline WHERE tenant = ? AND pipeline = ?';
  return selectFirst(database, ofPipeline, [tenant, pipeline], excess);
}

/** The oldest runs of the tenant that has most. */
function selectOldest(database: Database.Database, most: string, limit: number): readonly PrunedRow[] {
  const tenant = selectOne<{ tenant: string }>(
    database,
    `SELECT tenant FROM usage WHERE ${RUN_COUNT} > 0 ORDER BY ${most} DESC, ${RUN_COUNT} DESC LIMIT 1`,
  )?.tenant;
  if (tenant === undefined) return [];
  return selectFirst(database, 'INDEXED BY run_by_state WHERE tenant = ?', [tenant], limit);
}

/**
 * The settled runs with the lowest numbers: an index has them in their order within each state.
 *
 * @param source the index, and the values that its first columns have
 */
function selectFirst(
  database: Database.Database,
  source: string,
  values: readonly string[],
  limit: number,
): readonly PrunedRow[] {
  const most = Math.min(limit, RUNS_PER_SLICE);
  const parts = END_STATES.map(
    (state) =>
      `SELECT * FROM (SELECT ${HEAD_COLUMNS}, bytes FROM run ${source} AND state = ${state} AND state > 0
       ORDER BY number LIMIT ?)`,
  );
  const sql = `SELECT * FROM (${parts.join(' UNION ALL ')}) ORDER BY number LIMIT ?`;
  const valuesOfParts = END_STATES.flatMap(() => [...values, most]);
  return selectAll(database, sql, ...valuesOfParts, most);
}

/** Bytes of the file that hold something. */
function measureFile(database: Database.Database): number {
  const pages = readPragma(database, 'page_count') - readPragma(database, 'freelist_count');
  return pages * readPragma(database, 'page_size');
}
