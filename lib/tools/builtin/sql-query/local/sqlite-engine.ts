import type Database from 'libsql';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Json } from '../../../../common/json/json.js';
import { errorCode, ToolError } from '../../../../common/errors.js';
import { type SqlColumn, toJsonInteger } from '../database.js';
import { SQL_LIMITS } from '../limits.js';
import type { LocalEngine, OpenRequest } from './messages.js';
import { findRefusedFunction } from './sqlite-functions.js';

const BUSY_MS = 5000;
const MIN_PAGE_SIZE = 512;
const BATCH_LENGTH = 2 ** 20;

/** Opens a file so that statements reach no other one: the words of statements were checked before, and functions are here. */
export async function openSqlite({ path = ':memory:', readOnly }: OpenRequest): Promise<LocalEngine> {
  const { default: Sqlite } = await import('libsql');
  assertOwnJournal(path);
  const database = new Sqlite(path);
  database.defaultSafeIntegers(true);
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  // Functions of views and triggers, which others may have written into the file, are only those without effects.
  for (const setting of ['trusted_schema = OFF', 'temp_store = MEMORY', 'mmap_size = 0', 'foreign_keys = ON'])
    database.exec(`PRAGMA ${setting}`);
  const sizes: unknown = database.prepare('PRAGMA page_size').raw(true).get([]);
  const pageSize = Array.isArray(sizes) ? Number(sizes[0]) : MIN_PAGE_SIZE;
  database.prepare(`PRAGMA max_page_count = ${Math.floor(SQL_LIMITS.sqliteBytes / pageSize)}`).get([]);
  if (readOnly) database.exec('PRAGMA query_only = ON');
  return new SqliteEngine(database, path);
}

/** After comments, or without any. */
const CHANGING = /^(?:\s|--[^\n]*\n|\/\*[^]*?\*\/)*(?:INSERT|UPDATE|DELETE|REPLACE|WITH)\b/i;

type Rows = IterableIterator<unknown>;

class SqliteEngine implements LocalEngine {
  changed: number | undefined;
  readonly #database: Database.Database;
  readonly #path: string;
  #rows: Rows | undefined;
  #left = 0;

  constructor(database: Database.Database, path: string) {
    this.#database = database;
    this.#path = path;
  }

  run(text: string, values: readonly Json[], rowLimit: number): readonly SqlColumn[] {
    assertOwnJournal(this.#path);
    this.#assertFunctions(text);
    const statement = this.#database.prepare(text);
    const parameters = values.map(toParameter);
    this.changed = undefined;
    if (!statement.reader) {
      const { changes } = statement.run(parameters);
      if (CHANGING.test(text)) this.changed = changes;
      this.#rows = undefined;
      return [];
    }
    statement.raw(true);
    this.#rows = statement.iterate(parameters);
    this.#left = rowLimit === 0 ? Number.POSITIVE_INFINITY : rowLimit;
    return statement.columns().map(({ name, type }) => ({ name, type: type?.toLowerCase() ?? 'any' }));
  }

  /** The compiled statement names each function that it calls, also those of views and triggers. */
  #assertFunctions(text: string): void {
    const explained = this.#database.prepare(/^\s*EXPLAIN\b/i.test(text) ? text : `EXPLAIN ${text}`);
    if (!explained.reader) return;
    explained.raw(true);
    const refused = findRefusedFunction(explained.all([]));
    // Unlike `all`, `get` resets the statement, which would otherwise keep a transaction from its end.
    explained.get([]);
    if (refused !== undefined) throw ToolError.nonRetryable(`the function ${refused} is not allowed`);
  }

  next(): readonly (readonly Json[])[] {
    const batch: (readonly Json[])[] = [];
    let length = 0;
    while (this.#left > 0 && batch.length < SQL_LIMITS.batchRows && length < BATCH_LENGTH) {
      const next = this.#rows?.next();
      if (next === undefined || next.done === true) {
        this.#left = 0;
        break;
      }
      this.#left--;
      const row = Array.isArray(next.value) ? next.value.map(toValue) : [];
      for (const value of row) if (typeof value === 'string') length += value.length;
      batch.push(row);
    }
    return batch;
  }

  control(verb: string): void {
    assertOwnJournal(this.#path);
    this.#database.exec(verb === 'begin' ? 'BEGIN IMMEDIATE' : verb);
  }

  close(): void {
    this.#database.close();
  }

  isPassing(error: unknown): boolean {
    return /^SQLITE_(?:BUSY|LOCKED)/.test(errorCode(error) ?? '');
  }
}

/** The last bytes of a journal that names another one, as transactions over several files have. */
const SUPER_JOURNAL = 'd9d505f920a163d7';

/**
 * Refuses a journal that somebody has put beside the file: when the database recovers from it, it deletes the file that the
 * journal names, wherever that is. Transactions of this process are over one file, and never leave such a journal.
 */
function assertOwnJournal(path: string): void {
  if (path === ':memory:' || readEnd(`${path}-journal`) !== SUPER_JOURNAL) return;
  throw ToolError.nonRetryable('the journal beside the database names another file: remove it');
}

/** The last eight bytes of a file, as hexadecimal digits; empty when there is no such file. */
function readEnd(path: string): string {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return '';
  }
  try {
    const end = Buffer.alloc(8);
    readSync(file, end, 0, end.length, Math.max(0, fstatSync(file).size - end.length));
    return end.toString('hex');
  } finally {
    closeSync(file);
  }
}

/** Integers stay integers, as the database would otherwise keep them as numbers with fractions. */
function toParameter(value: Json): unknown {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

function toValue(value: unknown): Json {
  if (typeof value === 'bigint') return toJsonInteger(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return typeof value === 'string' ? value : null;
}
