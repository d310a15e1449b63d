import type Database from 'libsql';
import { LISTING_LIMITS } from '../../../../common/limits.js';
import { type Labels, listLabels } from '../../../../common/wire/labels.js';
import type { Batch } from '../../commit-queue.js';
import type { RunEnd } from '../../run-archive.js';
import { addToHours } from '../../statistics/hour-rows.js';
import { toCountedRun } from '../../statistics/run-counter.js';
import { countInQuota, setQuota } from './run-quotas.js';
import { END_STATES, STATES, toColumns } from './run-columns.js';
import { inTransaction, prepare, selectOne } from './statements.js';

/** Keeps everything of a batch, or nothing. */
export function commit(database: Database.Database, batch: Batch): void {
  inTransaction(database, () => keep(database, batch, { isOfServer: true }));
}

interface KeepOptions {
  /** Statistics and the numbers of runs that definitions keep are for servers: a shell prunes its history by itself. */
  readonly isOfServer: boolean;
}

/** Keeps a batch, as a part of a transaction. */
export function keep(database: Database.Database, batch: Batch, options: KeepOptions): void {
  addRuns(database, batch);
  addPieces(database, batch);
  addEnds(database, batch, options);
  removeRuns(database, batch);
  keepKeys(database, batch);
}

/** Of a run that gets the next number of the file when it is kept. */
export const NEXT_NUMBER = 0;

function addRuns(database: Database.Database, { added }: Batch): void {
  const add = prepare(
    database,
    'INSERT INTO run (number, id, created_at, tenant, idempotency, rerun_of) VALUES (?, ?, ?, ?, ?, ?)',
  );
  for (const { number, id, createdAt, tenantId, idempotency, rerunOf = null } of added) {
    const key = idempotency === undefined ? null : JSON.stringify(idempotency);
    add.run(number === NEXT_NUMBER ? null : number, id, createdAt, tenantId, key, rerunOf);
  }
}

function addPieces(database: Database.Database, { pieces }: Batch): void {
  const add = prepare(
    database,
    'INSERT INTO piece (run, goes_on, text) SELECT number, ?, ? FROM run WHERE id = ? AND removed = 0',
  );
  for (const { runId, text, goesOn } of pieces) add.run(goesOn ? 1 : 0, text, runId);
}

function addEnds(database: Database.Database, { ends }: Batch, options: KeepOptions): void {
  const added = ends.filter((end) => addEnd(database, end, options));
  countEnds(database, added);
  if (!options.isOfServer) return;
  const counted = added.map(({ summary, cost }) => toCountedRun(summary, cost));
  if (counted.length > 0) addToHours(database, counted);
}

/** Fills the row of a run with its end. Returns false for a run that was removed meanwhile, or has ended before. */
function addEnd(database: Database.Database, end: RunEnd, { isOfServer }: KeepOptions): boolean {
  const { summary } = end;
  const { run_id: runId, tenant_id: tenantId } = summary;
  const state = STATES.indexOf(summary.status);
  if (state <= 0) return false;
  const columns = toColumns(end);
  const set = Object.keys(columns)
    .map((name) => `${name} = ?`)
    .join(', ');
  const number = selectOne<{ number: number }>(
    database,
    `UPDATE run SET ${set} WHERE id = ? AND removed = 0 AND state = 0 RETURNING number`,
    ...Object.values(columns),
    runId,
  )?.number;
  if (number === undefined) return false;
  prepare(database, 'INSERT INTO run_text (tenant, number, text) VALUES (?, ?, ?)').run(
    tenantId,
    number,
    toSearchedText(end),
  );
  const label = prepare(database, 'INSERT INTO label (tenant, label, state, number) VALUES (?, ?, ?, ?)');
  for (const text of listLabels(summary.labels)) label.run(tenantId, text, state, number);
  if (isOfServer) setQuota(database, end, number);
  return true;
}

/** The text that searches look at, in small letters, as `RunFilter` does. */
function toSearchedText({ summary: { pipeline_id, goal, error, labels } }: RunEnd): string {
  const { searchedLength } = LISTING_LIMITS;
  const parts = [goal, error ?? ''].map((text) => text.slice(0, searchedLength));
  return [pipeline_id, ...parts, ...listLabels(labels)].join('\n').toLowerCase();
}

/** Counts the settled runs of each tenant once: a batch has many of one. */
function countEnds(database: Database.Database, ends: readonly RunEnd[]): void {
  const byTenant = new Map<string, readonly number[]>();
  for (const { summary } of ends) {
    const counts = byTenant.get(summary.tenant_id) ?? END_STATES.map(() => 0);
    const state = STATES.indexOf(summary.status);
    byTenant.set(
      summary.tenant_id,
      counts.map((count, at) => (END_STATES[at] === state ? count + 1 : count)),
    );
  }
  for (const [tenantId, counts] of byTenant) addUsage(database, tenantId, counts);
}

/** @param counts of runs that have succeeded, failed and were cancelled */
function addUsage(database: Database.Database, tenantId: string, counts: readonly number[], bytes = 0): void {
  prepare(
    database,
    `INSERT INTO usage (tenant, succeeded, failed, cancelled, bytes) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (tenant) DO UPDATE SET succeeded = succeeded + excluded.succeeded, failed = failed + excluded.failed,
       cancelled = cancelled + excluded.cancelled, bytes = bytes + excluded.bytes`,
  ).run(tenantId, ...counts, bytes);
}

/** Marks removed runs: to delete one may take long. */
function removeRuns(database: Database.Database, { removed }: Batch): void {
  for (const id of removed) {
    const row = selectOne<RemovableRow>(
      database,
      'SELECT number, tenant AS tenantId, state, bytes FROM run WHERE id = ? AND removed = 0',
      id,
    );
    if (row !== undefined) markRemoved(database, row);
  }
}

export interface RemovableRow {
  readonly number: number;
  readonly tenantId: string;
  readonly state: number;
  readonly bytes: number | null;
}

/** Takes a run out of all lists and counts. */
export function markRemoved(
  database: Database.Database,
  { number, tenantId, state, bytes }: RemovableRow,
): void {
  if (state > 0) countInQuota(database, tenantId, number, -1);
  prepare(database, 'UPDATE run SET removed = 1, state = 0 WHERE number = ?').run(number);
  prepare(database, 'DELETE FROM run_text WHERE tenant = ? AND number = ?').run(tenantId, number);
  if (state === 0) return;
  removeLabels(database, tenantId, state, number);
  const counts = END_STATES.map((each) => (each === state ? -1 : 0));
  addUsage(database, tenantId, counts, -(bytes ?? 0));
}

function removeLabels(database: Database.Database, tenantId: string, state: number, number: number): void {
  const row = selectOne<{ labels: string | null }>(
    database,
    'SELECT labels FROM run WHERE number = ?',
    number,
  );
  const labels = JSON.parse(row?.labels ?? '{}') as Labels;
  const remove = prepare(
    database,
    'DELETE FROM label WHERE tenant = ? AND label = ? AND state = ? AND number = ?',
  );
  for (const label of listLabels(labels)) remove.run(tenantId, label, state, number);
}

/** A key may have been used again since its run was forgotten. */
function keepKeys(database: Database.Database, { addedKeys, removedKeys }: Batch): void {
  const remove = prepare(database, 'DELETE FROM forgotten_key WHERE tenant = ? AND key = ?');
  for (const { tenantId, key } of removedKeys) remove.run(tenantId, key);
  const add = prepare(
    database,
    `INSERT OR REPLACE INTO forgotten_key (tenant, key, fingerprint, run_id, status, expires_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
  );
  for (const { tenantId, key, fingerprint, runId, lastStatus, expiresAt } of addedKeys) {
    add.run(tenantId, key, fingerprint, runId, lastStatus, expiresAt);
  }
}
