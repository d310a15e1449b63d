import { parentPort, workerData } from 'node:worker_threads';
import type Database from 'libsql';
import type { AuditLimits, AuditQuery, AuditRange } from '../../../../audit/audit-store.js';
import { type Clock, completeClock } from '../../../../common/clock.js';
import type { DefinitionOfTenant, RunQuery } from '../../../views/run-query.js';
import type { Batch } from '../../commit-queue.js';
import type { ArchiveLimits, ArchiveRange } from '../../run-archive.js';
import type { WantedItems } from '../../run-store.js';
import { readHours } from '../../statistics/hour-rows.js';
import type { StatisticsQuery } from '../../statistics/statistics-query.js';
import { AuditTable, readAudit } from '../audit-table.js';
import type { ChunkCursor } from '../stored-documents.js';
import { Cleaner, removeFiles } from './cleaner.js';
import { commit } from './commit.js';
import { openReader, openWriter, type WritableFile } from './connection.js';
import {
  HEAD_COLUMNS,
  completeRows,
  readHead,
  readHeads,
  removeUnfinished,
  type RunRow,
  toHead,
} from './run-heads.js';
import { readDocuments } from './documents.js';
import { prune } from './retention/prune.js';
import { countRuns, readLastRuns, readOldest, readPage } from './run-list.js';
import { RunsAtWork } from './runs-at-work.js';
import { selectAll, selectOne } from './statements.js';

/** Requests to the thread that writes. */
export type WriteRequest =
  | { readonly kind: 'keep'; readonly batch: Batch }
  | { readonly kind: 'prune'; readonly limits: ArchiveLimits; readonly now: number }
  /** Opens the audit; answers with the number of its last entry. */
  | { readonly kind: 'openAudit'; readonly limits: AuditLimits }
  /** Lets the file grow to so many pages: for specs of a disk that is full. */
  | { readonly kind: 'limit'; readonly pages: number };

/** Reads what is kept of a run, a chunk at a time. */
export interface ChunkRequest {
  readonly kind: 'chunk';
  readonly runId: string;
  readonly cursor: ChunkCursor | undefined;
  readonly only?: WantedItems | undefined;
  /** About so many bytes are read, and one part at least. */
  readonly most?: number | undefined;
}

/** Requests to the thread that reads. */
export type ReadRequest =
  | { readonly kind: 'heads'; readonly after: number }
  | { readonly kind: 'head'; readonly runId: string }
  | ChunkRequest
  | { readonly kind: 'keys' }
  | { readonly kind: 'key'; readonly tenantId: string; readonly key: string }
  | { readonly kind: 'page'; readonly query: RunQuery; readonly range: ArchiveRange }
  | { readonly kind: 'count'; readonly query: RunQuery; readonly before: number }
  | { readonly kind: 'oldest'; readonly tenants: readonly string[] | undefined }
  | { readonly kind: 'last'; readonly definitions: readonly DefinitionOfTenant[]; readonly most: number }
  | { readonly kind: 'statistics'; readonly query: StatisticsQuery }
  | { readonly kind: 'audit'; readonly query: AuditQuery; readonly range: AuditRange };

export type StoreRequest = WriteRequest | ReadRequest | { readonly kind: 'close' };

/** An answer of a thread. Answers come in the order of the requests; the first one says that the file is open. */
export type StoreAnswer =
  | { readonly ok: true; readonly value?: unknown }
  | { readonly ok: false; readonly error: string; readonly code?: string };

export interface ThreadOptions {
  readonly file: string;
  /** The path of the package `libsql`. */
  readonly driver: string;
  /** One thread writes and checkpoints. Another one reads, so that neither a list waits for a commit nor the other way round. */
  readonly role: 'writer' | 'reader';
}

/** The last run of the file. */
export interface LastStoredRun {
  readonly number: number;
  readonly createdAt: number;
}

/** Answers the requests in their order: waiting for the disk would stop every run of the main thread. */
function serve(): void {
  const port = parentPort;
  if (port === null) throw new Error('the store is a thread');
  const { file, driver, role } = workerData as ThreadOptions;
  const answer = async (work: () => unknown): Promise<void> => {
    let response: StoreAnswer;
    try {
      const value = work();
      // Only the last request waits: answers come in the order of the requests.
      response = { ok: true, value: value instanceof Promise ? await value : value };
    } catch (error) {
      const { message, code } = error as Error & { readonly code?: string };
      response = { ok: false, error: message, ...(code !== undefined && { code }) };
    }
    port.postMessage(response);
  };
  let connection: Connection | undefined;
  void answer(() => {
    // oxlint-disable-next-line typescript/no-require-imports -- the package is optional, and found by who starts the thread
    const Driver = require(driver) as typeof Database;
    const open = (path: string): Database.Database => new Driver(path);
    connection = role === 'writer' ? new Writer(file, open) : new Reader(openReader(file, open));
    return connection.opened;
  });
  port.on('message', (request: StoreRequest) => {
    void answer(() => {
      if (connection === undefined) throw new Error('the file is not open');
      return request.kind === 'close' ? connection.close() : connection.perform(request);
    });
  });
}

interface Connection {
  readonly opened: LastStoredRun | undefined;
  perform(request: StoreRequest): unknown;
  close(): unknown;
}

class Writer implements Connection {
  readonly opened: LastStoredRun;
  readonly #file: WritableFile;
  readonly #cleaner: Cleaner;
  readonly #runs: RunsAtWork;
  /** Undefined until it is opened: shells have none. */
  #audit: AuditTable | undefined;

  constructor(file: string, open: (path: string) => Database.Database) {
    this.#file = openWriter(file, open);
    const { database } = this.#file;
    removeUnfinished(database);
    completeRows(database);
    this.#runs = new RunsAtWork(database);
    this.#cleaner = new Cleaner(database, (runId) => removeFiles(`${file}.files`, runId));
    this.#cleaner.start();
    this.opened = readLast(database);
  }

  perform(request: StoreRequest): unknown {
    const { database } = this.#file;
    switch (request.kind) {
      case 'keep':
        commit(database, request.batch, this.#runs, this.#audit);
        this.#cleaner.onCommit(request.batch.ends.length);
        if (request.batch.removed.length > 0) this.#cleaner.wake();
        return undefined;
      case 'prune':
        // Of the runs that were taken out before, nothing may count any more.
        this.#cleaner.clean();
        return prune(database, request.limits, request.now);
      case 'openAudit':
        this.#audit = new AuditTable(database, request.limits);
        return this.#audit.lastNumber;
      case 'limit':
        return void database.exec(`PRAGMA max_page_count = ${request.pages}`);
      default:
        throw new Error(`the writer does not know "${request.kind}"`);
    }
  }

  async close(): Promise<void> {
    this.#runs.writeAllBytes();
    await this.#cleaner.finish();
    this.#file.close();
  }
}

function readLast(database: Database.Database): LastStoredRun {
  const sql = 'SELECT number, created_at AS createdAt FROM run ORDER BY number DESC LIMIT 1';
  return selectOne<LastStoredRun>(database, sql) ?? { number: 0, createdAt: 0 };
}

class Reader implements Connection {
  readonly opened = undefined;
  readonly #database: Database.Database;
  readonly #clock: Clock = completeClock();

  constructor(database: Database.Database) {
    this.#database = database;
  }

  perform(request: StoreRequest): unknown {
    const database = this.#database;
    switch (request.kind) {
      case 'heads':
        return readHeads(database, request.after);
      case 'head':
        return readHead(database, request.runId);
      case 'chunk':
        return readDocuments(database, request.runId, request.cursor, request.only, request.most);
      case 'keys':
        return selectAll(
          database,
          `SELECT tenant AS tenantId, key, fingerprint, run_id AS runId, status AS lastStatus, expires_at AS expiresAt
           FROM forgotten_key ORDER BY expires_at`,
        );
      case 'key':
        return readKey(database, request.tenantId, request.key);
      case 'page':
        return readPage(database, request.query, request.range, this.#clock);
      case 'count':
        return countRuns(database, request.query, request.before, this.#clock);
      case 'oldest':
        return readOldest(database, request.tenants);
      case 'last':
        return readLastRuns(database, request.definitions, request.most);
      case 'statistics':
        return readHours(database, request.query, this.#clock);
      case 'audit':
        return readAudit(database, request.query, request.range);
      default:
        throw new Error(`the reader does not know "${request.kind}"`);
    }
  }

  close(): void {
    this.#database.close();
  }
}

function readKey(database: Database.Database, tenantId: string, key: string): unknown {
  const row = selectOne<RunRow>(
    database,
    `SELECT ${HEAD_COLUMNS} FROM run INDEXED BY run_key
     WHERE tenant = ? AND idempotency ->> '$.key' = ? AND idempotency IS NOT NULL AND removed = 0
     ORDER BY number DESC LIMIT 1`,
    tenantId,
    key,
  );
  return row && toHead(database, row);
}

serve();
