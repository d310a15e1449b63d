import { closeSync, openSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type Database from 'libsql';
import { errorCode } from '../../../common/errors.js';
import type { IdempotencyKey } from '../../idempotency.js';
import type { Batch } from '../commit-queue.js';
import type { StoredRunHead, StoredSubmission } from '../run-store.js';
import { endsSettled, SETTLED_LENGTH } from '../run-writer.js';
import { assertOurs, migrate } from './schema.js';

export type StoreRequest =
  | { readonly kind: 'keep'; readonly batch: Batch }
  | { readonly kind: 'heads'; readonly after: number }
  | { readonly kind: 'pieces'; readonly runId: string; readonly after: number; readonly limit: number }
  | { readonly kind: 'keys' }
  /** Lets the file grow to so many pages: for specs of a disk that is full. */
  | { readonly kind: 'limit'; readonly pages: number }
  | { readonly kind: 'close' };

interface RunRow {
  readonly number: number;
  readonly id: string;
  readonly createdAt: number;
  /** Null in a row of version 1 of the tables. */
  readonly tenantId: string | null;
  /** JSON of the key; null when there is none. */
  readonly idempotency: string | null;
}

export interface PieceRow {
  /** Grows from piece to piece. */
  readonly n: number;
  readonly text: string;
  /** 1 when the document goes on with the next piece. */
  readonly goes_on: 0 | 1;
}

/** An answer of the thread. Answers come in the order of the requests; the first one says that the file is open. */
export type StoreAnswer =
  | { readonly ok: true; readonly value?: unknown }
  | { readonly ok: false; readonly error: string; readonly code?: string };

/** The only thread that touches the file: waiting for the disk would stop every run. */
function serve(): void {
  const port = parentPort;
  if (port === null) throw new Error('the store is a thread');
  const { file, driver } = workerData as { readonly file: string; readonly driver: string };
  let database: Database.Database | undefined;
  let cleaner: Cleaner | undefined;
  const answer = (work: () => unknown): void => {
    let response: StoreAnswer;
    try {
      response = { ok: true, value: work() };
    } catch (error) {
      const { message, code } = error as Error & { readonly code?: string };
      response = { ok: false, error: message, ...(code !== undefined && { code }) };
    }
    port.postMessage(response);
  };
  answer(() => {
    // oxlint-disable-next-line typescript/no-require-imports -- the package is optional, and found by who starts the thread
    const Driver = require(driver) as typeof Database;
    createForUser(file);
    database = openDatabase(new Driver(file));
    cleaner = new Cleaner(database);
    cleaner.wake();
    return readLastNumber(database);
  });
  port.on('message', (request: StoreRequest) => {
    answer(() => {
      if (database === undefined) throw new Error('the file is not open');
      return perform(database, request);
    });
    if (request.kind === 'keep' && request.batch.removed.length > 0) cleaner?.wake();
  });
}

/**
 * Creates the file unless it is there, only for the user of the server: it has all that runs were given. The other files of
 * SQLite get its mode. A file that is there is not opened: the system releases the locks that this process has on a file
 * when any descriptor of that file is closed.
 */
function createForUser(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

function openDatabase(database: Database.Database): Database.Database {
  // A second process is refused at once. The lock dies with its process.
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  // Before anything of the file is changed.
  assertOurs(database);
  // Before anything is written, for a file that is new.
  database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  database.exec('PRAGMA journal_size_limit = 67108864');
  migrate(database);
  removeUnfinished(database);
  return database;
}

function readLastNumber(database: Database.Database): number {
  const row = database.prepare('SELECT max(number) AS last FROM run').get() as { last: number | null };
  return row.last ?? 0;
}

function perform(database: Database.Database, request: StoreRequest): unknown {
  switch (request.kind) {
    case 'keep':
      return keep(database, request.batch);
    case 'heads':
      return readHeads(database, request.after);
    case 'pieces':
      return readPieces(database, request.runId, request.after, request.limit);
    case 'keys':
      return database
        .prepare(
          `SELECT tenant AS tenantId, key, fingerprint, run_id AS runId, status AS lastStatus, expires_at AS expiresAt
           FROM forgotten_key ORDER BY expires_at`,
        )
        .all();
    case 'limit':
      return void database.exec(`PRAGMA max_page_count = ${request.pages}`);
    case 'close':
      for (let slices = 0; slices < SLICES_AT_CLOSE && deleteSlice(database); slices++);
      giveBack(database, 100 * PAGES_PER_COMMIT);
      database.close();
      return undefined;
  }
}

/** A process may have ended between the pieces of a document: nothing that was promised waited for the rest of it. */
function removeUnfinished(database: Database.Database): void {
  const findLast = database.prepare(
    'SELECT n FROM piece WHERE run = ? AND goes_on = 0 ORDER BY n DESC LIMIT 1',
  );
  const cut = database.prepare('DELETE FROM piece WHERE run = ? AND n > ?');
  const remove = database.prepare('DELETE FROM run WHERE number = ?');
  database.exec('BEGIN IMMEDIATE');
  for (const row of database.prepare('SELECT number FROM run').all()) {
    const { number } = row as { readonly number: number };
    const last = findLast.get(number) as { readonly n: number } | undefined;
    cut.run(number, last?.n ?? 0);
    if (last === undefined) remove.run(number);
  }
  database.exec('COMMIT');
}

const HEADS_PER_PAGE = 1000;

/** Lists the runs after a number; none when there are no more. */
function readHeads(database: Database.Database, after: number): readonly StoredRunHead[] {
  const select = prepare(
    database,
    `SELECT number, id, created_at AS createdAt, tenant AS tenantId, idempotency FROM run
     WHERE number > ? AND removed = 0 ORDER BY number LIMIT ${HEADS_PER_PAGE}`,
  );
  const selected = select.all(after) as RunRow[];
  let rows: readonly CompleteRow[] = [];
  inTransaction(database, () => {
    rows = selected.map((row) => completeRow(database, row));
  });
  return rows.map(({ idempotency, ...row }) => ({
    ...row,
    hasSettled: readHasSettled(database, row.number),
    idempotency: idempotency === null ? undefined : (JSON.parse(idempotency) as IdempotencyKey),
  }));
}

interface CompleteRow extends RunRow {
  readonly tenantId: string;
}

/** Fills a row that version 1 of the tables has written, from the submission. */
function completeRow(database: Database.Database, row: RunRow): CompleteRow {
  const { tenantId } = row;
  if (tenantId !== null) return { ...row, tenantId };
  const submission = JSON.parse(readSubmission(database, row.id)) as StoredSubmission;
  const idempotency = submission.idempotency === undefined ? null : JSON.stringify(submission.idempotency);
  const { tenant_id: tenant } = submission;
  prepare(database, 'UPDATE run SET tenant = ?, idempotency = ? WHERE number = ?').run(
    tenant,
    idempotency,
    row.number,
  );
  return { ...row, tenantId: tenant, idempotency };
}

/** Returns true when the last fact of a run is that it has settled. */
function readHasSettled(database: Database.Database, number: number): boolean {
  const select = prepare(
    database,
    `SELECT substr(text, -${SETTLED_LENGTH}) AS tail FROM piece WHERE run = ? ORDER BY n DESC LIMIT 1`,
  );
  const last = select.all(number)[0] as { readonly tail: string } | undefined;
  return last !== undefined && endsSettled(last.tail);
}

function readSubmission(database: Database.Database, runId: string): string {
  let submission = '';
  for (let piece = readPieces(database, runId, 0, 1)[0]; piece !== undefined; ) {
    submission += piece.text;
    piece = piece.goes_on === 0 ? undefined : readPieces(database, runId, piece.n, 1)[0];
  }
  return submission;
}

/** All at once: rows that are asked for one by one are read a hundred at a time, whether or not they are needed. */
function readPieces(
  database: Database.Database,
  runId: string,
  after: number,
  limit: number,
): readonly PieceRow[] {
  const select = prepare(
    database,
    `SELECT n, text, goes_on FROM piece WHERE run = (SELECT number FROM run WHERE id = ? AND removed = 0) AND n > ?
     ORDER BY n LIMIT ?`,
  );
  return select.all(runId, after, limit) as PieceRow[];
}

const prepared = new Map<string, Database.Statement>();

/** Most statements are needed for every commit. */
function prepare(database: Database.Database, sql: string): Database.Statement {
  const statement = prepared.get(sql) ?? database.prepare(sql);
  prepared.set(sql, statement);
  return statement;
}

function keep(database: Database.Database, batch: Batch): void {
  inTransaction(database, () => {
    addRuns(database, batch);
    addPieces(database, batch);
    removeRuns(database, batch);
    keepKeys(database, batch);
  });
}

function inTransaction(database: Database.Database, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function addRuns(database: Database.Database, { added }: Batch): void {
  const add = prepare(
    database,
    'INSERT INTO run (number, id, created_at, tenant, idempotency) VALUES (?, ?, ?, ?, ?)',
  );
  for (const { number, id, createdAt, tenantId, idempotency } of added) {
    add.run(number, id, createdAt, tenantId, idempotency === undefined ? null : JSON.stringify(idempotency));
  }
}

function addPieces(database: Database.Database, { pieces }: Batch): void {
  const add = prepare(
    database,
    'INSERT INTO piece (run, goes_on, text) SELECT number, ?, ? FROM run WHERE id = ? AND removed = 0',
  );
  for (const { runId, text, goesOn } of pieces) add.run(goesOn ? 1 : 0, text, runId);
}

/** A removed run is only marked: to delete it may take long. */
function removeRuns(database: Database.Database, { removed }: Batch): void {
  if (removed.length === 0) return;
  const mark = prepare(database, 'UPDATE run SET removed = 1 WHERE id = ?');
  for (const id of removed) mark.run(id);
}

/** So much of removed runs is deleted with one commit, in rows and in bytes: others wait for it. */
const ROWS_PER_SLICE = 200;
const BYTES_PER_SLICE = 2 * 2 ** 20;

/** So many slices are deleted before the file is closed: about a second of work. The rest is deleted by the next process. */
const SLICES_AT_CLOSE = 100;

/** Deletes a slice of the runs that are removed. Returns false when nothing is left to be deleted. */
function deleteSlice(database: Database.Database): boolean {
  const first = prepare(database, 'SELECT number FROM run WHERE removed = 1 ORDER BY number LIMIT 1');
  const remove = prepare(database, 'DELETE FROM run WHERE number = ?');
  const left = { rows: ROWS_PER_SLICE, bytes: BYTES_PER_SLICE };
  let hasMore = true;
  inTransaction(database, () => {
    while (left.rows > 0 && left.bytes > 0 && hasMore) {
      const row = first.all()[0] as { readonly number: number } | undefined;
      hasMore = row !== undefined;
      if (row === undefined) break;
      deletePieces(database, row.number, left);
      // The pieces of the run may have used up the slice.
      if (left.rows > 0 && left.bytes > 0) left.rows -= remove.run(row.number).changes;
    }
    giveBack(database, PAGES_PER_COMMIT);
  });
  return hasMore;
}

/** Deletes pieces of a run. @param left how much of it may be deleted: reduced by what is */
function deletePieces(database: Database.Database, run: number, left: { rows: number; bytes: number }): void {
  const select = prepare(
    database,
    'SELECT n, octet_length(text) AS bytes FROM piece WHERE run = ? ORDER BY n LIMIT ?',
  );
  const remove = prepare(database, 'DELETE FROM piece WHERE run = ? AND n <= ?');
  let last = 0;
  for (const { n, bytes } of select.all(run, left.rows) as { n: number; bytes: number }[]) {
    if (left.bytes <= 0) break;
    last = n;
    left.rows--;
    left.bytes -= bytes;
  }
  remove.run(run, last);
}

/** Between two slices, others have the disk for so long. */
const CLEANING_DELAY_MS = 10;

/** Gives the room of removed runs back to the disk, a slice at a time. */
class Cleaner {
  readonly #database: Database.Database;
  #isAtWork = false;

  constructor(database: Database.Database) {
    this.#database = database;
  }

  wake(): void {
    if (this.#isAtWork) return;
    this.#isAtWork = true;
    setTimeout(() => this.#clean(), CLEANING_DELAY_MS);
  }

  #clean(): void {
    this.#isAtWork = false;
    try {
      if (this.#database.open && deleteSlice(this.#database)) this.wake();
    } catch {
      // The next request to keep something learns that the disk is full, or has failed.
    }
  }
}

/** So many free pages are given back with one commit: more would let others wait. */
const PAGES_PER_COMMIT = 512;

function giveBack(database: Database.Database, pages: number): void {
  database.exec(`PRAGMA incremental_vacuum(${pages})`);
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

serve();
