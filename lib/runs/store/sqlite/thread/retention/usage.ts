import type Database from 'libsql';
import { PIECE_BYTES } from '../pieces.js';
import { PARTS_PER_RUN } from '../schema.js';
import { inTransaction, prepare, selectAll, selectOne } from '../statements.js';

/**
 * The bytes that a store keeps for each run and each tenant (D74): `bytes` of a run and of its tenant change together, so that
 * nobody walks through runs to learn whose bytes fill the file.
 */

/** The numbers of a row, and the entries that indexes have of it, take about as much besides texts. */
const RUN_BYTES = 600;

/** About as much takes an hour of a pipeline in the statistics. */
const HOUR_BYTES = 400;

/** How often the text of a column stands in the file: in its row and in indexes. */
const ADDED_COLUMNS = { tenant: 5, idempotency: 2, rerun_of: 2 } as const;
const ENDED_COLUMNS = {
  pipeline: 2,
  goal: 1,
  error: 1,
  error_code: 1,
  failed_task: 1,
  labels: 3,
  starter_name: 2,
} as const;

type Columns<K extends string> = Readonly<Record<K, string | null>>;

function measure<K extends string>(times: Readonly<Record<K, number>>, columns: Columns<K>): number {
  const names = Object.keys(times) as K[];
  return names.reduce((sum, name) => sum + times[name] * Buffer.byteLength(columns[name] ?? ''), 0);
}

/** The bytes of the row of a run at work, without what is kept of the run. */
export function measureAdded(columns: Columns<keyof typeof ADDED_COLUMNS>): number {
  return RUN_BYTES + measure(ADDED_COLUMNS, columns);
}

/** The bytes that the end of a run adds. @param searched the text that searches look at */
export function measureEnd(columns: Columns<keyof typeof ENDED_COLUMNS>, searched: string): number {
  return measure(ENDED_COLUMNS, columns) + Buffer.byteLength(searched);
}

function toSql(times: Readonly<Record<string, number>>): string {
  const parts = Object.entries(times).map(([name, n]) => `${n} * coalesce(octet_length(run.${name}), 0)`);
  return parts.join(' + ');
}

/** All bytes of a run, from what is there. */
const BYTES_SQL = `CAST(${RUN_BYTES} + ${toSql(ADDED_COLUMNS)}
  + CASE WHEN run.state > 0 THEN ${toSql(ENDED_COLUMNS)} + coalesce((
      SELECT octet_length(text) FROM run_text WHERE run_text.tenant = run.tenant AND run_text.number = run.number
    ), 0) ELSE 0 END
  + (SELECT total(octet_length(text) + ${PIECE_BYTES}) FROM piece WHERE piece.run = run.number)
  + (SELECT total(length(data)) FROM packed
     WHERE n >= run.number * ${PARTS_PER_RUN} AND n < (run.number + 1) * ${PARTS_PER_RUN})
  + coalesce((SELECT length(data) FROM definition WHERE definition.n = run.definition), 0) AS INTEGER)`;

/** Sums of a tenant; those that are left out do not change. */
interface UsageChange {
  /** Of runs that have succeeded, failed and were cancelled. */
  readonly counts?: readonly number[];
  /** In the file. */
  readonly bytes?: number;
  /** Of files of runs. */
  readonly artifactBytes?: number;
}

/** The changes of a commit, written once for each tenant: a batch has many runs of one. */
export class UsageChanges {
  readonly #byTenant = new Map<string, Required<UsageChange>>();

  add(tenantId: string, { counts, bytes = 0, artifactBytes = 0 }: UsageChange): void {
    const known = this.#byTenant.get(tenantId) ?? { counts: [0, 0, 0], bytes: 0, artifactBytes: 0 };
    this.#byTenant.set(tenantId, {
      counts:
        counts === undefined ? known.counts : known.counts.map((count, at) => count + (counts[at] ?? 0)),
      bytes: known.bytes + bytes,
      artifactBytes: known.artifactBytes + artifactBytes,
    });
  }

  write(database: Database.Database): void {
    const add = prepare(
      database,
      `INSERT INTO usage (tenant, succeeded, failed, cancelled, bytes, artifact_bytes, hours) VALUES (?, ?, ?, ?, ?, ?, 0)
       ON CONFLICT (tenant) DO UPDATE SET succeeded = succeeded + excluded.succeeded, failed = failed + excluded.failed,
         cancelled = cancelled + excluded.cancelled, bytes = bytes + excluded.bytes,
         artifact_bytes = artifact_bytes + excluded.artifact_bytes`,
    );
    for (const [tenantId, { counts, bytes, artifactBytes }] of this.#byTenant) {
      add.run(tenantId, ...counts, bytes, artifactBytes);
    }
  }
}

export function changeUsage(database: Database.Database, tenantId: string, change: UsageChange): void {
  const changes = new UsageChanges();
  changes.add(tenantId, change);
  changes.write(database);
}

/** Adds hours of statistics of a tenant, or with a negative number takes them away; those that nobody has counted yet are counted later. */
export function addHours(database: Database.Database, tenantId: string, hours: number): void {
  prepare(database, 'UPDATE usage SET hours = hours + ? WHERE tenant = ?').run(hours, tenantId);
}

/** Counts the bytes of a run anew. */
export function recount(database: Database.Database, number: number): void {
  recountRuns(database, 'number = ?', number);
}

/** Takes the bytes of a run away that is going to be deleted. */
export function uncount(database: Database.Database, number: number): void {
  const sql = 'SELECT tenant, bytes FROM run WHERE number = ?';
  const row = selectOne<{ tenant: string | null; bytes: number | null }>(database, sql, number);
  if (row?.tenant != null) changeUsage(database, row.tenant, { bytes: -(row.bytes ?? 0) });
}

/** Takes the bytes of the files of a run away, which are going to be removed. */
export function uncountFiles(database: Database.Database, runId: string): void {
  const sql = 'SELECT tenant, artifact_bytes AS bytes FROM run WHERE id = ?';
  const row = selectOne<{ tenant: string | null; bytes: number | null }>(database, sql, runId);
  if (row?.tenant == null || row.bytes === null) return;
  changeUsage(database, row.tenant, { artifactBytes: -row.bytes });
  prepare(database, 'UPDATE run SET artifact_bytes = NULL WHERE id = ?').run(runId);
}

/** Returns the number of the last run that was counted; undefined when there are none. */
function recountRuns(database: Database.Database, where: string, ...values: number[]): number | undefined {
  const rows = selectAll<{ number: number; tenant: string | null; before: number; bytes: number }>(
    database,
    `SELECT number, tenant, coalesce(bytes, 0) AS before, ${BYTES_SQL} AS bytes FROM run WHERE removed = 0 AND ${where}`,
    ...values,
  );
  const changes = new UsageChanges();
  const set = prepare(database, 'UPDATE run SET bytes = ? WHERE number = ?');
  for (const { number, tenant, before, bytes } of rows) {
    if (tenant === null || bytes === before) continue;
    set.run(bytes, number);
    changes.add(tenant, { bytes: bytes - before });
  }
  changes.write(database);
  return rows.at(-1)?.number;
}

/** A tenant that has something to be deleted, for want of room. */
interface LargeTenant {
  readonly tenant: string;
  /** So many bytes may be deleted of it. */
  readonly spareBytes: number;
  /** True when most of its bytes are those of its statistics. */
  readonly isOfHours: boolean;
}

const HOURS_SQL = `${HOUR_BYTES} * coalesce(hours, 0)`;

/** All bytes of a tenant: of its runs, also of those at work, of their files, and of its statistics. */
const TOTAL_SQL = `bytes + artifact_bytes + ${HOURS_SQL}`;

/**
 * Finds the tenant that has most bytes among those with settled runs, or with many statistics. The one with most of all may
 * lose all of them; another one only what exceeds its share. Undefined when there is none.
 */
export function findLargestTenant(database: Database.Database, maxBytes: number): LargeTenant | undefined {
  const largest = selectOne<{
    tenant: string;
    total: number;
    isOfHours: 0 | 1;
    most: number;
    tenants: number;
  }>(
    database,
    `SELECT tenant, total, 2 * hour_bytes > total AS isOfHours, most, tenants FROM
       (SELECT tenant, ${TOTAL_SQL} AS total, ${HOURS_SQL} AS hour_bytes, succeeded + failed + cancelled AS runs FROM usage),
       (SELECT max(${TOTAL_SQL}) AS most, count(*) AS tenants FROM usage WHERE ${TOTAL_SQL} > 0)
     WHERE total > 0 AND (runs > 0 OR 2 * hour_bytes > total) ORDER BY total DESC LIMIT 1`,
  );
  if (largest === undefined) return undefined;
  const { tenant, total, isOfHours, most, tenants } = largest;
  const spareBytes = total === most ? total : total - maxBytes / tenants;
  return spareBytes > 0 ? { tenant, spareBytes, isOfHours: isOfHours === 1 } : undefined;
}

/** The bytes of the files of all runs. */
export function readArtifactBytes(database: Database.Database): number {
  return (
    selectOne<{ bytes: number }>(database, 'SELECT total(artifact_bytes) AS bytes FROM usage')?.bytes ?? 0
  );
}

/** So many runs of an earlier version are counted with one commit: others wait for it. */
const RUNS_PER_SLICE = 100;

/** True until all that an earlier version has written is counted. */
export function isCounting(database: Database.Database): boolean {
  return selectOne(database, 'SELECT 1 FROM uncounted LIMIT 1') !== undefined;
}

/**
 * Counts the bytes of a slice of the runs, or the hours of a tenant, that an earlier version has written. Returns false when
 * all are counted.
 */
export function countSlice(database: Database.Database): boolean {
  const upTo = selectOne<{ number: number }>(database, 'SELECT number FROM uncounted LIMIT 1')?.number;
  if (upTo === undefined) return false;
  inTransaction(database, () => {
    const where = `number <= ? ORDER BY number DESC LIMIT ${RUNS_PER_SLICE}`;
    const last = recountRuns(database, where, upTo);
    if (last !== undefined) prepare(database, 'UPDATE uncounted SET number = ?').run(last - 1);
    else if (!countHours(database)) prepare(database, 'DELETE FROM uncounted').run();
  });
  return true;
}

/** Returns false when the hours of all tenants are counted. */
function countHours(database: Database.Database): boolean {
  const sql = 'SELECT tenant FROM usage WHERE hours IS NULL LIMIT 1';
  const tenant = selectOne<{ tenant: string }>(database, sql)?.tenant;
  if (tenant === undefined) return false;
  prepare(
    database,
    'UPDATE usage SET hours = (SELECT count(*) FROM stat_hour WHERE stat_hour.tenant = usage.tenant) WHERE tenant = ?',
  ).run(tenant);
  return true;
}
