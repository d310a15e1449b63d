import type Database from 'libsql';
import type { IdempotencyKey } from '../../../idempotency.js';
import type { ArchivedHead, EndStatus, StoredRunHead } from '../../run-archive.js';
import { endsSettled, SETTLED_LENGTH } from '../../run-writer.js';
import { parseSubmission } from '../stored-documents.js';
import { listDocuments } from './documents.js';
import { hasItemParts } from './packing.js';
import { STATES, SUMMARY_COLUMNS, type SummaryRow, toListedRun } from './run-columns.js';
import { recount, uncount } from './retention/usage.js';
import { inTransaction, selectAll, selectOne } from './statements.js';

export interface RunRow {
  readonly number: number;
  readonly id: string;
  readonly createdAt: number;
  /** Null in a row of version 1 of the tables. */
  readonly tenantId: string | null;
  /** JSON of the key; null when there is none. */
  readonly idempotency: string | null;
  readonly state: number;
  readonly priority: number;
}

export const HEAD_COLUMNS =
  'number, id, created_at AS createdAt, tenant AS tenantId, idempotency, state, priority';

/**
 * Cuts unfinished documents of runs at work: a process may have ended between the pieces of a document, and nothing that was
 * promised waited for the rest of it.
 */
export function removeUnfinished(database: Database.Database): void {
  const findLast = database.prepare(
    'SELECT n FROM piece WHERE run = ? AND goes_on = 0 ORDER BY n DESC LIMIT 1',
  );
  const cut = database.prepare('DELETE FROM piece WHERE run = ? AND n > ?');
  const remove = database.prepare('DELETE FROM run WHERE number = ?');
  inTransaction(database, () => {
    const atWork = database.prepare(
      'SELECT number FROM run INDEXED BY run_at_work WHERE state = 0 AND removed = 0',
    );
    for (const { number } of atWork.all() as { readonly number: number }[]) {
      const last = findLast.all(number)[0] as { readonly n: number } | undefined;
      const { changes } = cut.run(number, last?.n ?? 0);
      if (last === undefined) {
        uncount(database, number);
        remove.run(number);
      } else if (changes > 0) recount(database, number);
    }
  });
}

const HEADS_PER_PAGE = 1000;

/** Lists the runs at work after a number; none when there are no more. */
export function readHeads(database: Database.Database, after: number): readonly StoredRunHead[] {
  const selected = selectAll<RunRow>(
    database,
    `SELECT ${HEAD_COLUMNS} FROM run INDEXED BY run_at_work
     WHERE number > ? AND state = 0 AND removed = 0 ORDER BY number LIMIT ${HEADS_PER_PAGE}`,
    after,
  );
  return selected.map((row) => toHead(database, row));
}

export function readHead(database: Database.Database, runId: string): ArchivedHead | undefined {
  const row = selectOne<RunRow & SummaryRow>(
    database,
    `SELECT ${HEAD_COLUMNS}, ${SUMMARY_COLUMNS} FROM run WHERE id = ? AND removed = 0`,
    runId,
  );
  if (row === undefined) return undefined;
  const head = toHead(database, row);
  if (head.endStatus === undefined) return head;
  return { ...head, summary: toListedRun(row).summary, hasItemParts: hasItemParts(database, row.number) };
}

/** Fills rows that version 1 of the tables has written, from their submissions. */
export function completeRows(database: Database.Database): void {
  const rows = database
    .prepare(`SELECT ${HEAD_COLUMNS} FROM run WHERE tenant IS NULL AND removed = 0`)
    .all() as RunRow[];
  if (rows.length === 0) return;
  const update = database.prepare(
    'UPDATE run SET tenant = ?, idempotency = ?, rerun_of = ? WHERE number = ?',
  );
  inTransaction(database, () => {
    for (const row of rows) {
      const [submission] = listDocuments(database, row.id);
      if (submission === undefined) continue;
      const { tenant_id, idempotency, rerun } = parseSubmission(submission);
      const key = idempotency === undefined ? null : JSON.stringify(idempotency);
      update.run(tenant_id, key, rerun?.run_id ?? null, row.number);
    }
  });
}

export function toHead(
  database: Database.Database,
  { number, id, createdAt, tenantId, idempotency, state, priority }: RunRow,
): StoredRunHead {
  return {
    number,
    id,
    createdAt,
    tenantId: tenantId ?? '',
    hasSettled: state > 0 || readHasSettled(database, number),
    endStatus: STATES[state] as EndStatus | undefined,
    idempotency: idempotency === null ? undefined : (JSON.parse(idempotency) as IdempotencyKey),
    priority,
  };
}

/** Returns true when the last fact of a run is that it has settled. */
function readHasSettled(database: Database.Database, number: number): boolean {
  const last = selectOne<{ readonly tail: string }>(
    database,
    `SELECT substr(text, -${SETTLED_LENGTH}) AS tail FROM piece WHERE run = ? ORDER BY n DESC LIMIT 1`,
    number,
  );
  return last !== undefined && endsSettled(last.tail);
}
