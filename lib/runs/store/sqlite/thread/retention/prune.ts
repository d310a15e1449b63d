import type Database from 'libsql';
import type { ArchiveLimits, EndStatus, PrunedRun, PruneReason } from '../../../run-archive.js';
import { pruneHours, pruneHoursOf } from '../../../statistics/hour-rows.js';
import { readPragma } from '../cleaner.js';
import { markRemoved, type RemovableRow } from '../commit.js';
import { HEAD_COLUMNS, type RunRow, toHead } from '../run-heads.js';
import { END_STATES, STATES } from '../run-columns.js';
import { findExceededQuota } from './run-quotas.js';
import { findLargestTenant, isCounting, readArtifactBytes } from './usage.js';
import { inTransaction, selectAll, selectOne } from '../statements.js';

/** So many runs are taken out with one commit: others wait for it. */
const RUNS_PER_SLICE = 50;

/** Fewer, because the file is measured again after each slice. */
const RUNS_PER_BYTES_SLICE = 10;

const RUN_COUNT = 'succeeded + failed + cancelled';

type PrunedRow = RunRow & RemovableRow & { readonly artifactBytes: number | null };

const PRUNED_COLUMNS = `${HEAD_COLUMNS}, bytes, artifact_bytes AS artifactBytes`;

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
    `SELECT ${PRUNED_COLUMNS} FROM run INDEXED BY run_finished
     WHERE finished_at <= ? AND state > 0 AND expires_at IS NULL ORDER BY finished_at LIMIT ${RUNS_PER_SLICE}`,
    now - ttlMs,
  );
  if (expired.length > 0) return { reason: 'age', rows: expired };
  const runs =
    selectOne<{ runs: number }>(database, `SELECT total(${RUN_COUNT}) AS runs FROM usage`)?.runs ?? 0;
  if (runs > maxRuns) return { reason: 'number', rows: selectOldest(database, runs - maxRuns) };
  const excess = measureExcess(database, maxBytes);
  const freeing = excess > 0 ? freeBytes(database, maxBytes, excess) : [];
  if (freeing !== undefined && freeing.length > 0) return { reason: 'bytes', rows: freeing };
  // Last: whoever may run a pipeline sets how many are kept.
  const rows = selectBeyondKeep(database, now);
  if (rows.length === 0 && freeing === undefined) throw new Error(NOTHING_TO_DELETE);
  return { reason: 'keep', rows };
}

const NOTHING_TO_DELETE =
  'the store and the files of its runs take more than SERVICE_STORE_BYTES, and of the tenants that have more than their share, ' +
  'none has settled runs left: wait for their runs at work, cancel these, or raise the limit';

/**
 * How many bytes are to be freed; 0 also until what was taken out is deleted, since the file is as large as before until then,
 * and until the runs of an earlier version are counted: nobody knows whose bytes are most.
 */
function measureExcess(database: Database.Database, maxBytes: number): number {
  if (maxBytes === Number.POSITIVE_INFINITY) return 0;
  const excess = measureFile(database) + readArtifactBytes(database) - maxBytes;
  return excess > 0 && !isDeleting(database) && !isCounting(database) ? excess : 0;
}

/**
 * Selects runs of the tenant whose bytes are most, those at work included, or deletes hours of its statistics. The bytes of
 * the tenant with most may be those of runs at work: others lose runs only while they have more than their share themselves.
 * Returns undefined when nobody has anything that may be deleted.
 */
function freeBytes(
  database: Database.Database,
  maxBytes: number,
  excess: number,
): readonly PrunedRow[] | undefined {
  const found = findLargestTenant(database, maxBytes);
  if (found === undefined) return undefined;
  const { tenant, spareBytes, isOfHours } = found;
  if (isOfHours) {
    pruneHoursOf(database, tenant);
    return [];
  }
  const rows = selectFirst(database, OF_TENANT, [tenant], RUNS_PER_BYTES_SLICE);
  let freed = 0;
  return rows.filter(({ bytes, artifactBytes }) => {
    const isFreed = freed < Math.min(excess, spareBytes);
    freed += (bytes ?? 0) + (artifactBytes ?? 0);
    return isFreed;
  });
}

const OF_TENANT = 'INDEXED BY run_by_state WHERE tenant = ?';

function isDeleting(database: Database.Database): boolean {
  return (
    selectOne(database, 'SELECT 1 FROM run INDEXED BY run_removed WHERE removed = 1 LIMIT 1') !== undefined
  );
}

/** Runs that are older, or more, than their definitions say. */
function selectBeyondKeep(database: Database.Database, now: number): readonly PrunedRow[] {
  const expired = selectAll<PrunedRow>(
    database,
    `SELECT ${PRUNED_COLUMNS} FROM run INDEXED BY run_expiring
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

/** The oldest runs of the tenant that has most of them. */
function selectOldest(database: Database.Database, limit: number): readonly PrunedRow[] {
  const tenant = selectOne<{ tenant: string }>(
    database,
    `SELECT tenant FROM usage WHERE ${RUN_COUNT} > 0 ORDER BY ${RUN_COUNT} DESC LIMIT 1`,
  )?.tenant;
  if (tenant === undefined) return [];
  return selectFirst(database, OF_TENANT, [tenant], limit);
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
      `SELECT * FROM (SELECT ${PRUNED_COLUMNS} FROM run ${source} AND state = ${state} AND state > 0
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
