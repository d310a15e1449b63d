import type Database from 'libsql';
import { LISTING_LIMITS } from '../../../../common/limits.js';
import { type Labels, listLabels } from '../../../../common/wire/labels.js';
import type { Batch } from '../../commit-queue.js';
import type { RunEnd } from '../../run-archive.js';
import type { AuditTable } from '../audit-table.js';
import { addToHours } from '../../statistics/hour-rows.js';
import { toCountedRun } from '../../statistics/run-counter.js';
import { PIECE_BYTES } from './pieces.js';
import { countInQuota, setQuota } from './retention/run-quotas.js';
import { changeUsage, measureAdded, measureEnd, UsageChanges } from './retention/usage.js';
import { END_STATES, STATES, toColumns } from './run-columns.js';
import { RunsAtWork } from './runs-at-work.js';
import { inTransaction, prepare, selectOne } from './statements.js';

/** Keeps everything of a batch, or nothing. */
export function commit(
  database: Database.Database,
  batch: Batch,
  runs: RunsAtWork,
  audit?: AuditTable,
): void {
  inTransaction(database, () => {
    keep(database, batch, { runs, isOfServer: true });
    audit?.add(batch.audit);
  });
}

interface KeepOptions {
  /** Of the connection. Default: the batch has all of its runs. */
  readonly runs?: RunsAtWork;
  /** Statistics and the numbers of runs that definitions keep are for servers: a shell prunes its history by itself. */
  readonly isOfServer: boolean;
}

/** The connection and the runs that a batch changes, and the sums of the tenants, which are written once. */
interface Changes {
  readonly database: Database.Database;
  readonly runs: RunsAtWork;
  readonly usage: UsageChanges;
}

/** Keeps a batch, as a part of a transaction. */
export function keep(database: Database.Database, batch: Batch, options: KeepOptions): void {
  const { runs = new RunsAtWork(database), isOfServer } = options;
  const changes = { database, runs, usage: new UsageChanges() };
  addRuns(changes, batch);
  addPieces(changes, batch);
  const ended = batch.ends.filter((end) => addEnd(changes, end, isOfServer));
  changes.usage.write(database);
  if (isOfServer) countInHours(database, ended);
  removeRuns(changes, batch);
  keepKeys(database, batch);
}

/** Of a run that gets the next number of the file when it is kept. */
export const NEXT_NUMBER = 0;

function addRuns({ database, runs, usage }: Changes, { added }: Batch): void {
  const add = prepare(
    database,
    'INSERT INTO run (number, id, created_at, tenant, idempotency, rerun_of, priority, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  for (const { number, id, createdAt, tenantId, idempotency, rerunOf = null, priority } of added) {
    const key = idempotency === undefined ? null : JSON.stringify(idempotency);
    const bytes = measureAdded({ tenant: tenantId, idempotency: key, rerun_of: rerunOf });
    const given = number === NEXT_NUMBER ? null : number;
    const { lastInsertRowid } = add.run(given, id, createdAt, tenantId, key, rerunOf, priority, bytes);
    runs.add(id, Number(lastInsertRowid), tenantId);
    usage.add(tenantId, { bytes });
  }
}

function addPieces({ database, runs, usage }: Changes, { pieces }: Batch): void {
  const add = prepare(
    database,
    'INSERT INTO piece (run, goes_on, text) SELECT number, ?, ? FROM run WHERE number = ? AND removed = 0',
  );
  for (const { runId, text, goesOn } of pieces) {
    const run = runs.find(runId);
    if (run === undefined) continue;
    add.run(goesOn ? 1 : 0, text, run.number);
    runs.countBytes(run, Buffer.byteLength(text) + PIECE_BYTES, usage);
  }
}

/** Call when the sums of the tenants are there. */
function countInHours(database: Database.Database, ends: readonly RunEnd[]): void {
  const counted = ends.map(({ summary, cost }) => toCountedRun(summary, cost));
  if (counted.length > 0) addToHours(database, counted);
}

/** Fills the row of a run with its end. Returns false for a run that was removed meanwhile, or has ended before. */
function addEnd({ database, runs, usage }: Changes, end: RunEnd, isOfServer: boolean): boolean {
  const { summary } = end;
  const { run_id: runId, tenant_id: tenantId } = summary;
  const state = STATES.indexOf(summary.status);
  const run = runs.find(runId);
  if (state <= 0 || run === undefined) return false;
  runs.delete(runId);
  const { number, unsaved } = run;
  const columns = toColumns(end);
  const searched = toSearchedText(end);
  const bytes = unsaved + measureEnd(columns, searched);
  const set = Object.keys(columns)
    .map((name) => `${name} = ?`)
    .join(', ');
  const { changes } = prepare(
    database,
    `UPDATE run SET bytes = coalesce(bytes, 0) + ?, ${set} WHERE number = ? AND removed = 0 AND state = 0`,
  ).run(bytes, ...Object.values(columns), number);
  if (changes === 0) return false;
  prepare(database, 'INSERT INTO run_text (tenant, number, text) VALUES (?, ?, ?)').run(
    tenantId,
    number,
    searched,
  );
  const label = prepare(database, 'INSERT INTO label (tenant, label, state, number) VALUES (?, ?, ?, ?)');
  for (const text of listLabels(summary.labels)) label.run(tenantId, text, state, number);
  if (isOfServer) setQuota(database, end, number);
  usage.add(tenantId, { counts: countState(state, 1), bytes, artifactBytes: end.artifactBytes });
  return true;
}

/** The text that searches look at, in small letters, as `RunFilter` does. */
function toSearchedText({ summary: { pipeline_id, goal, error, labels } }: RunEnd): string {
  const { searchedLength } = LISTING_LIMITS;
  const parts = [goal, error ?? ''].map((text) => text.slice(0, searchedLength));
  return [pipeline_id, ...parts, ...listLabels(labels)].join('\n').toLowerCase();
}

function countState(state: number, by: 1 | -1): readonly number[] {
  return END_STATES.map((each) => (each === state ? by : 0));
}

/** Marks removed runs: to delete one may take long. */
function removeRuns({ database, runs }: Changes, { removed }: Batch): void {
  for (const id of removed) {
    runs.delete(id);
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
  changeUsage(database, tenantId, { counts: countState(state, -1), bytes: -(bytes ?? 0) });
  if (state > 0) countInQuota(database, tenantId, number, -1);
  prepare(database, 'UPDATE run SET removed = 1, state = 0 WHERE number = ?').run(number);
  prepare(database, 'DELETE FROM run_text WHERE tenant = ? AND number = ?').run(tenantId, number);
  if (state > 0) removeLabels(database, tenantId, state, number);
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
