import { open as openFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { errorMessage, WavetrainError } from '../../../common/errors.js';
import { eventLoopBudget, nextSlice } from '../../../execution/run/event-loop-budget.js';
import type { FactLog } from '../../../execution/history/run-history.js';
import type { ForgottenKey } from '../../idempotency.js';
import { CommitQueue } from '../commit-queue.js';
import type {
  KeptSource,
  RunStore,
  StoredFact,
  StoredRun,
  StoredRunHead,
  StoredSubmission,
} from '../run-store.js';
import type { PieceRow, StoreAnswer, StoreRequest } from './store-thread.js';

/** About as many characters of runs, or of one run, are read at once. */
const READ_LENGTH = 512 * 1024;
const MIN_PIECES = 4;

/** Keeps runs in a SQLite file, which one process has open. A thread of its own waits for the disk. */
export class SqliteStore implements RunStore {
  /**
   * The files that this process has open. To look at one of them again would release its lock: the system does so when any
   * descriptor of a file is closed.
   */
  static readonly #open = new Set<string>();
  readonly place: string;
  readonly filesFolder: string;
  readonly isOptional = false;
  lastNumber = 0;
  readonly #thread: StoreThread;
  readonly #queue: CommitQueue;
  readonly #path: string;
  #isClosed = false;

  private constructor(file: string, thread: StoreThread, lastNumber: number) {
    this.place = file;
    this.#path = resolve(file);
    this.filesFolder = `${this.#path}.files`;
    this.lastNumber = lastNumber;
    this.#thread = thread;
    this.#queue = new CommitQueue(async (batch) => void (await thread.ask({ kind: 'keep', batch })));
  }

  /**
   * Opens the file, or creates it. Rejects with `bad_usage` that says what to do: when the package `libsql` is missing,
   * another process has the file open, or it is not a file of Wavetrain.
   *
   * @param program of the thread
   */
  static async open(file: string, program: string): Promise<SqliteStore> {
    const path = resolve(file);
    const driver = findDriver();
    if (SqliteStore.#open.has(path)) throw await cannotOpen(file, new Error('it is locked'));
    SqliteStore.#open.add(path);
    const thread = new StoreThread(program, { file: path, driver });
    try {
      return new SqliteStore(file, thread, Number(await thread.opened));
    } catch (error) {
      await thread.end();
      SqliteStore.#open.delete(path);
      throw await cannotOpen(file, error);
    }
  }

  add(run: StoredRun, source?: KeptSource): void {
    this.lastNumber = run.number;
    this.#queue.add(run, source);
  }

  log(runId: string, tenantId: string): FactLog {
    return {
      append: (fact) => this.#queue.append(runId, tenantId, fact),
      committed: () => this.#queue.committed(runId),
    };
  }

  /** After the store was closed, what is removed stays: nothing was promised. */
  remove(runId: string): void {
    if (!this.#isClosed) this.#queue.remove(runId);
  }

  addKey(key: ForgottenKey): void {
    if (!this.#isClosed) this.#queue.addKey(key);
  }

  removeKey(tenantId: string, key: string): void {
    if (!this.#isClosed) this.#queue.removeKey(tenantId, key);
  }

  async keys(): Promise<readonly ForgottenKey[]> {
    return (await this.#thread.ask({ kind: 'keys' })) as readonly ForgottenKey[];
  }

  idle(): Promise<void> {
    return this.#queue.idle();
  }

  onFailure(listener: (error: Error) => void): void {
    this.#queue.onFailure(listener);
  }

  async *heads(): AsyncIterable<StoredRunHead> {
    for (let after = 0; ; ) {
      const heads = (await this.#thread.ask({ kind: 'heads', after })) as readonly StoredRunHead[];
      yield* heads;
      const last = heads.at(-1);
      if (last === undefined) return;
      after = last.number;
      if (eventLoopBudget.exhausted()) await nextSlice(eventLoopBudget);
    }
  }

  async submission(runId: string): Promise<StoredSubmission | undefined> {
    for await (const text of this.#documents(runId)) return JSON.parse(text) as StoredSubmission;
    return undefined;
  }

  async facts(runId: string): Promise<readonly StoredFact[]> {
    const facts: StoredFact[] = [];
    let isSubmission = true;
    for await (const text of this.#documents(runId)) {
      if (!isSubmission) for (const fact of JSON.parse(text) as readonly StoredFact[]) facts.push(fact);
      isSubmission = false;
    }
    return facts;
  }

  /** The submission first, then lists of facts, as JSON. */
  async *#documents(runId: string): AsyncIterable<string> {
    let text = '';
    for await (const piece of this.#pieces(runId)) {
      text += piece.text;
      if (piece.goes_on === 1) continue;
      yield text;
      text = '';
      if (eventLoopBudget.exhausted()) await nextSlice(eventLoopBudget);
    }
  }

  /** Reads as many at once as are about `READ_LENGTH` long, judging by those before. */
  async *#pieces(runId: string): AsyncIterable<PieceRow> {
    let limit = MIN_PIECES;
    for (let after = 0; ; ) {
      const pieces = (await this.#thread.ask({ kind: 'pieces', runId, after, limit })) as readonly PieceRow[];
      yield* pieces;
      const last = pieces.at(-1);
      if (last === undefined || pieces.length < limit) return;
      after = last.n;
      const length = pieces.reduce((sum, { text }) => sum + text.length, 1);
      limit = Math.min(2 * limit, Math.max(MIN_PIECES, Math.floor((pieces.length * READ_LENGTH) / length)));
    }
  }

  async close(): Promise<void> {
    await this.#queue.idle();
    this.#isClosed = true;
    try {
      await this.#thread.close();
    } finally {
      SqliteStore.#open.delete(this.#path);
    }
  }
}

/** The thread that has the file open. It answers in the order of the requests. */
export class StoreThread {
  readonly #worker: Worker;
  readonly #waiting: {
    readonly resolve: (value: unknown) => void;
    readonly reject: (error: Error) => void;
  }[] = [];
  /** Resolves with the number of the last run. */
  readonly opened: Promise<unknown>;
  /** Why the thread answers no more. */
  #fault: Error | undefined;

  constructor(program: string, data: { readonly file: string; readonly driver: string }) {
    this.#worker = new Worker(program, { workerData: data });
    // Runs that wait for the thread keep the process alive themselves.
    this.#worker.unref();
    this.opened = this.#next();
    this.#worker.on('message', (answer: StoreAnswer) => {
      const waiting = this.#waiting.shift();
      if (answer.ok) waiting?.resolve(answer.value);
      else waiting?.reject(Object.assign(new Error(explain(answer.error)), { code: answer.code }));
    });
    this.#worker.on('error', (error: unknown) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('its thread has ended')));
  }

  /** Rejects when the thread has ended, as when it cannot do what it is asked. */
  ask(request: StoreRequest): Promise<unknown> {
    if (this.#fault !== undefined) return Promise.reject(this.#fault);
    this.#worker.postMessage(request);
    return this.#next();
  }

  /** Closes the file, unless that has happened or the thread has ended. */
  async close(): Promise<void> {
    if (this.#fault === undefined) await this.ask({ kind: 'close' });
    await this.end();
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #next(): Promise<unknown> {
    this.#worker.ref();
    return new Promise<unknown>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
    }).finally(() => {
      if (this.#waiting.length === 0) this.#worker.unref();
    });
  }

  #fail(cause: unknown): void {
    this.#fault ??= new Error(errorMessage(cause), { cause });
    const error = this.#fault;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

/** Says what to do about what SQLite says, as far as that is known. */
function explain(message: string): string {
  if (!/database or disk is full/i.test(message)) return message;
  return 'the disk is full: make room, then start the server again: runs go on from what was kept';
}

/** The path of the package `libsql`. @throws WavetrainError `bad_usage` that says how to install it */
export function findDriver(): string {
  try {
    return createRequire(import.meta.url).resolve('libsql');
  } catch (cause) {
    throw new WavetrainError(
      'bad_usage',
      'SERVICE_STORE needs the package libsql: install it with "npm install libsql" where Wavetrain is installed',
      { cause },
    );
  }
}

/** Says what keeps a file from being opened as a store, and what to do. */
export async function cannotOpen(file: string, cause: unknown): Promise<WavetrainError> {
  const said = errorMessage(cause);
  // SQLite says so of a file whose folder is read-only, and of much else.
  const message = /I\/O error/i.test(said) && !(await isWritable(file)) ? 'readonly' : said;
  const known = REASONS.find(([pattern]) => pattern.test(message));
  const reason = known === undefined ? message : known[1];
  return new WavetrainError('bad_usage', `the store ${file} cannot be opened: ${reason}`, { cause });
}

async function isWritable(path: string): Promise<boolean> {
  try {
    await (await openFile(path, 'r+')).close();
    return true;
  } catch {
    return false;
  }
}

const LOCKED = /locked|busy/i;

/** Returns true when an error says that another process has a file open. */
export function isLocked(error: unknown): boolean {
  return LOCKED.test(errorMessage(error));
}

/** The messages of SQLite, and their meaning here. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [LOCKED, 'another process has it open: stop that one, or name another file'],
  [/malformed|corrupt/i, 'it is broken: restore a copy of it, or name another file'],
  [/not a database/i, 'it is not a database: name another file'],
  [
    /unable to open|unable to read|cannot open|ENOENT|ENOTDIR|EISDIR/i,
    'its folder must exist and be writable',
  ],
  [
    /readonly|read-only|EACCES|EPERM|EROFS/i,
    'it is read-only: allow writing to it and to its folder, or name another file',
  ],
];
