import { readPriority } from '../../../execution/prepare/run-priority.js';
import { errorCode, errorMessage, WavetrainError } from '../../../common/errors.js';
import { describeErrno } from '../../../common/files.js';
import { HISTORY_LIMITS } from '../../../common/limits.js';
import type { FactLog } from '../../../execution/history/run-history.js';
import type { ForgottenKey } from '../../idempotency.js';
import { type Batch, CommitQueue } from '../commit-queue.js';
import type { ArchivePage, EndCounts, RunArchive, RunEnd, StoredRunHead } from '../run-archive.js';
import type {
  KeptSource,
  RunStore,
  SavedCommand,
  StoredFact,
  StoredRun,
  StoredSubmission,
} from '../run-store.js';
import type { StatisticsRows } from '../statistics/statistics-query.js';
import { NEXT_NUMBER } from '../sqlite/thread/commit.js';
import { explainSqlite } from '../sqlite/open-errors.js';
import { NO_ENDS } from '../sqlite/thread/run-columns.js';
import type { RunWithFacts } from './kept-runs.js';
import type { HistoryWriter } from './history-writer.js';

interface ShellStoreOptions {
  /** Of the history. */
  readonly place: string;
  /** The bytes that tools return. */
  readonly filesFolder: string;
  /** Writes the runs of this process. Without it, runs are only read. */
  readonly writer?: HistoryWriter;
  /** The command that runs. */
  readonly command?: SavedCommand;
  /** An earlier run that can be read; one that has not settled ends as if it had been stopped. */
  readonly earlier?: RunWithFacts | undefined;
  /** The largest number of bytes of the facts of a run. Default: those of the whole history. */
  readonly runBytes?: number;
}

/**
 * Keeps the runs of one shell (D68), and reads one of an earlier shell. The shell promises nothing to others: a commit is
 * handed to the system, which keeps it when this process is killed; the disk is waited for once, at the end. A run goes on
 * without its history when that cannot be written.
 */
export class ShellStore implements RunStore {
  readonly place: string;
  readonly filesFolder: string;
  readonly isOptional = true;
  readonly archive?: RunArchive;
  /** The file numbers its runs itself. */
  readonly lastNumber = 0;
  readonly lastCreatedAt = 0;
  readonly #options: ShellStoreOptions;
  readonly #queue: CommitQueue;
  readonly #own = new Set<string>();
  readonly #kept = new Set<string>();
  /** Of the facts of each run. */
  readonly #bytes = new Map<string, number>();
  #closing: Promise<void> | undefined;

  constructor(options: ShellStoreOptions) {
    this.place = options.place;
    this.filesFolder = options.filesFolder;
    this.#options = options;
    this.#queue = new CommitQueue((batch) => this.#keep(batch), this.isOptional);
    if (options.writer !== undefined) this.archive = new WrittenEnds(this.#queue, this.#own);
  }

  /** True when the run can be found in the history. */
  isKept(runId: string): boolean {
    return this.#kept.has(runId);
  }

  add(run: StoredRun, source?: KeptSource): void {
    const { writer, command } = this.#options;
    if (writer === undefined) return;
    this.#own.add(run.id);
    const submission = command === undefined ? run.submission : { ...run.submission, command };
    this.#queue.add({ ...run, number: NEXT_NUMBER, submission }, source);
  }

  log(runId: string, tenantId: string): FactLog {
    return {
      append: (fact) => {
        if (this.#own.has(runId)) this.#queue.append(runId, tenantId, fact);
      },
      committed: () => this.#queue.committed(runId),
    };
  }

  /** Deletes a run of this process. The runs of other processes stay. */
  remove(runId: string): void {
    if (this.#own.has(runId) && this.#closing === undefined) this.#queue.remove(runId);
  }

  /** The shell has no idempotency keys. */
  addKey(): void {}

  removeKey(): void {}

  async keys(): Promise<readonly ForgottenKey[]> {
    return [];
  }

  idle(): Promise<void> {
    return this.#queue.idle();
  }

  onFailure(listener: (error: Error) => void): void {
    this.#queue.onFailure(listener);
  }

  async *heads(): AsyncIterable<StoredRunHead> {
    const { earlier } = this.#options;
    if (earlier === undefined) return;
    const { run, facts } = earlier;
    const { tenant_id: tenantId, idempotency } = run.submission;
    const last = facts.at(-1);
    const hasSettled = last !== undefined && 'kind' in last && last.kind === 'settled';
    const priority = readPriority(run.submission.definition);
    yield { id: run.id, number: 1, createdAt: run.createdAt, tenantId, hasSettled, idempotency, priority };
  }

  async submission(runId: string): Promise<StoredSubmission | undefined> {
    return this.#earlier(runId)?.run.submission;
  }

  async facts(runId: string): Promise<readonly StoredFact[]> {
    return this.#earlier(runId)?.facts ?? [];
  }

  #earlier(runId: string): RunWithFacts | undefined {
    const { earlier } = this.#options;
    return earlier?.run.id === runId ? earlier : undefined;
  }

  close(): Promise<void> {
    this.#closing ??= this.#queue.idle().then(() => this.#options.writer?.close());
    return this.#closing;
  }

  async #keep(batch: Batch): Promise<void> {
    try {
      for (const { runId, text } of batch.pieces) this.#count(runId, text);
      this.#options.writer?.keep(batch);
    } catch (cause) {
      throw new WavetrainError('unreadable_file', `cannot write to ${this.place}: ${describe(cause)}`, {
        cause,
      });
    }
    for (const { id } of batch.added) this.#kept.add(id);
  }

  #count(runId: string, text: string): void {
    const bytes = (this.#bytes.get(runId) ?? 0) + Buffer.byteLength(text);
    this.#bytes.set(runId, bytes);
    if (bytes <= (this.#options.runBytes ?? HISTORY_LIMITS.bytes)) return;
    throw Object.assign(new Error('the run has become too large'), { code: 'EFBIG' });
  }
}

function describe(cause: unknown): string {
  const message = errorMessage(cause);
  if (/disk is full/i.test(message)) return 'the disk is full';
  return errorCode(cause)?.startsWith('SQLITE') ? explainSqlite(message) : describeErrno(cause);
}

/** Keeps the ends of the runs of this process. The shell reads lists of the files, and not here. */
class WrittenEnds implements RunArchive {
  readonly #queue: CommitQueue;
  readonly #own: ReadonlySet<string>;

  constructor(queue: CommitQueue, own: ReadonlySet<string>) {
    this.#queue = queue;
    this.#own = own;
  }

  end(end: RunEnd): void {
    if (this.#own.has(end.summary.run_id)) this.#queue.end(end);
  }

  async head(): Promise<undefined> {}

  async findKey(): Promise<undefined> {}

  async page(): Promise<ArchivePage> {
    return { runs: [] };
  }

  async count(): Promise<EndCounts> {
    return NO_ENDS;
  }

  async oldest(): Promise<undefined> {}

  async lastRuns(): Promise<readonly []> {
    return [];
  }

  /** Statistics are for servers. */
  async statistics(): Promise<StatisticsRows> {
    return { rows: [] };
  }

  /** The thread that writes removes what exceeds the limits. */
  async prune(): Promise<readonly []> {
    return [];
  }
}
