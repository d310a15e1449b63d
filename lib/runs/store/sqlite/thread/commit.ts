import type Database from 'libsql';
import { LISTING_LIMITS } from '../../../../common/limits.js';
import { type Labels, listLabels } from '../../../../common/wire/labels.js';
import type { Batch } from '../../commit-queue.js';
import type { RunEnd } from '../../run-archive.js';
import { addToHours } from '../../statistics/hour-rows.js';
import { toCountedRun } from '../../statistics/run-counter.js';
import { STATES, toColumns } from './run-columns.js';
import { inTransaction, prepare, selectOne } from './statements.js';

/** Keeps everything of a batch, or nothing. */
export function commit(database: Database.Database, batch: Batch): void {
  inTransaction(database, () => {
    const ended = keep(database, batch);
    const counted = ended.map(({ summary, cost }) => toCountedRun(summary, cost));
    if (counted.length > 0) addToHours(database, counted);
  });
}

/** Keeps a batch, as a part of a transaction. Returns the ends that were new, which no statistics have counted yet. */
export function keep(database: Database.Database, batch: Batch): readonly RunEnd[] {
  addRuns(database, batch);
  addPieces(database, batch);
  const ended = batch.ends.filter((end) => addEnd(database, end));
  removeRuns(database, batch);
  keepKeys(database, batch);
  return ended;
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

/** Fills the row of a run with its end. Returns false for a run that was removed meanwhile, or has ended before. */
function addEnd(database: Database.Database, end: RunEnd): boolean {
  const { summary } = end;
  const { run_id: runId, tenant_id: tenantId } = summary;
  const number = selectOne<{ number: number }>(
    database,
    'SELECT number FROM run WHERE id = ? AND removed = 0 AND state = 0',
    runId,
  )?.number;
  const state = STATES.indexOf(summary.status);
  if (number === undefined || state <= 0) return false;
  const columns = toColumns(end);
  const names = Object.keys(columns);
  prepare(database, `UPDATE run SET ${names.map((name) => `${name} = ?`).join(', ')} WHERE number = ?`).run(
    ...Object.values(columns),
    number,
  );
  prepare(database, 'INSERT INTO run_text (tenant, number, text) VALUES (?, ?, ?)').run(
    tenantId,
    number,
    toSearchedText(end),
  );
  const label = prepare(database, 'INSERT INTO label (tenant, label, state, number) VALUES (?, ?, ?, ?)');
  for (const text of listLabels(summary.labels)) label.run(tenantId, text, state, number);
  countRun(database, tenantId, state, 1);
  return true;
}

/** The text that searches look at, in small letters, as `RunFilter` does. */
function toSearchedText({ summary: { pipeline_id, goal, error, labels } }: RunEnd): string {
  const { searchedLength } = LISTING_LIMITS;
  const parts = [goal, error ?? ''].map((text) => text.slice(0, searchedLength));
  return [pipeline_id, ...parts, ...listLabels(labels)].join('\n').toLowerCase();
}

/** Counts a settled run of a tenant, or with -1 no longer. */
function countRun(database: Database.Database, tenantId: string, state: number, by: 1 | -1, bytes = 0): void {
  const counts = ['succeeded', 'failed', 'cancelled'].map((status) => (STATES[state] === status ? by : 0));
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
  prepare(database, 'UPDATE run SET removed = 1, state = 0 WHERE number = ?').run(number);
  prepare(database, 'DELETE FROM run_text WHERE tenant = ? AND number = ?').run(tenantId, number);
  if (state === 0) return;
  removeLabels(database, tenantId, state, number);
  countRun(database, tenantId, state, -1, -(bytes ?? 0));
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
