import type { AuditLimits, AuditRows, AuditStore } from '../../../audit/audit-store.js';
import { resolve } from 'node:path';
import { eventLoopBudget, nextSlice } from '../../../execution/run/event-loop-budget.js';
import type { FactLog } from '../../../execution/history/run-history.js';
import type { ForgottenKey } from '../../idempotency.js';
import { CommitQueue } from '../commit-queue.js';
import type { RunArchive, StoredRunHead } from '../run-archive.js';
import type {
  FactsReading,
  KeptSource,
  RunStore,
  StoredFact,
  StoredRun,
  StoredSubmission,
} from '../run-store.js';
import { StoreGuard } from '../store-guard.js';
import { DocumentReader } from './document-reader.js';
import { cannotOpen, findDriver } from './open-errors.js';
import { SqliteArchive } from './sqlite-archive.js';
import type { LastStoredRun } from './thread/store-thread.js';
import { FairReader, StoreThread } from './thread-client.js';

/** The threads that have a file open. */
interface StoreThreads {
  readonly writer: StoreThread;
  readonly reader: FairReader;
}

/** Keeps runs in a SQLite file, which one process has open. Threads of their own wait for the disk. */
export class SqliteStore implements RunStore {
  /**
   * The files that this process has open. To look at one of them again would release its lock: the system does so when any
   * descriptor of a file is closed.
   */
  static readonly #open = new Set<string>();
  readonly place: string;
  readonly filesFolder: string;
  readonly isOptional = false;
  readonly archive: RunArchive;
  lastNumber: number;
  lastCreatedAt: number;
  readonly #threads: StoreThreads;
  readonly #reader: FairReader;
  readonly #documents: DocumentReader;
  readonly #queue: CommitQueue;
  readonly #path: string;
  #isClosed = false;

  private constructor(file: string, threads: StoreThreads, last: LastStoredRun) {
    this.place = file;
    this.#path = resolve(file);
    this.filesFolder = `${this.#path}.files`;
    this.lastNumber = last.number;
    this.lastCreatedAt = last.createdAt;
    this.#threads = threads;
    this.#reader = threads.reader;
    this.#documents = new DocumentReader(threads.reader);
    this.#queue = new CommitQueue(async (batch) => void (await threads.writer.ask({ kind: 'keep', batch })));
    this.archive = new SqliteArchive(threads.writer, this.#reader, this.#queue);
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
    const writer = new StoreThread(program, { file: path, driver, role: 'writer' });
    let reader: FairReader | undefined;
    try {
      const last = (await writer.opened) as LastStoredRun;
      reader = new FairReader(() => new StoreThread(program, { file: path, driver, role: 'reader' }));
      await reader.opened;
      return new SqliteStore(file, { writer, reader }, last);
    } catch (error) {
      await reader?.close().catch(() => undefined);
      await writer.end();
      SqliteStore.#open.delete(path);
      throw await cannotOpen(file, error);
    }
  }

  add(run: StoredRun, source?: KeptSource): void {
    this.lastNumber = run.number;
    this.lastCreatedAt = run.createdAt;
    this.#queue.add(run, source);
  }

  /** An entry of the audit is in the commit of what it is about. */
  async openAudit(limits: AuditLimits): Promise<AuditStore> {
    const lastNumber = (await this.#threads.writer.ask({ kind: 'openAudit', limits })) as number;
    const guard = new StoreGuard(this, 'the audit cannot');
    return {
      lastNumber,
      add: (row) => this.#queue.addAudit(row),
      kept: async () => {
        guard.assertWorks();
        await guard.unlessFails(this.#queue.auditKept());
      },
      page: async (query, range, caller) =>
        (await this.#reader.read({ kind: 'audit', query, range }, caller)) as AuditRows,
    };
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
    return (await this.#reader.read({ kind: 'keys' }, '')) as readonly ForgottenKey[];
  }

  idle(): Promise<void> {
    return this.#queue.idle();
  }

  onFailure(listener: (error: Error) => void): void {
    this.#queue.onFailure(listener);
  }

  async *heads(): AsyncIterable<StoredRunHead> {
    for (let after = 0; ; ) {
      const heads = (await this.#reader.read({ kind: 'heads', after }, '')) as readonly StoredRunHead[];
      yield* heads;
      const last = heads.at(-1);
      if (last === undefined) return;
      after = last.number;
      if (eventLoopBudget.exhausted()) await nextSlice(eventLoopBudget);
    }
  }

  submission(runId: string, reading?: Pick<FactsReading, 'tenantId'>): Promise<StoredSubmission | undefined> {
    return this.#documents.submission(runId, reading);
  }

  facts(runId: string, reading?: FactsReading): Promise<readonly StoredFact[]> {
    return this.#documents.facts(runId, reading);
  }

  async close(): Promise<void> {
    await this.#queue.idle();
    this.#isClosed = true;
    const { reader, writer } = this.#threads;
    try {
      // The last connection that is closed checkpoints: that of the writer.
      await reader.close();
      await writer.close();
    } finally {
      SqliteStore.#open.delete(this.#path);
    }
  }
}
