import type { AuditRow } from '../../audit/audit-store.js';
import { inNextTurn, nextTurn } from '../../common/scheduling/turns.js';
import { FairQueue } from '../../common/scheduling/fair-queue.js';
import { readPriority } from '../../execution/prepare/run-priority.js';
import { eventLoopBudget } from '../../execution/run/event-loop-budget.js';
import type { Fact } from '../../execution/history/fact.js';
import type { ForgottenKey } from '../idempotency.js';
import type { RunEnd, StoredRunHead } from './run-archive.js';
import type { KeptSource, StoredRun } from './run-store.js';
import { Deferred, type Piece, RunWriter } from './run-writer.js';

/** With more than that, in UTF-16 code units, what is left comes with the next batch: nobody waits long for one. */
const MAX_BATCH_LENGTH = 1024 * 1024;

export interface Batch {
  readonly added: readonly AddedRun[];
  /** In order, the pieces of each run as well. */
  readonly pieces: readonly Piece[];
  /** Of runs whose facts are kept with this batch, or before. */
  readonly ends: readonly RunEnd[];
  readonly removed: readonly string[];
  /** To be added after the removed keys are gone. */
  readonly addedKeys: readonly ForgottenKey[];
  readonly removedKeys: readonly RemovedKey[];
  readonly audit: readonly AuditRow[];
}

export type RemovedKey = Pick<ForgottenKey, 'tenantId' | 'key'>;

/** A run without its submission, which is the first of its documents. */
export interface AddedRun extends Omit<StoredRunHead, 'hasSettled'> {
  /** The run that this one repeats: its files stay for as long. */
  readonly rerunOf: string | undefined;
}

/** How many entries of each run are written with a batch, in the order in which the runs go on. */
type Progress = Map<RunWriter, number>;

/**
 * Collects what all runs write in a turn of the event loop, or while the batch before is being kept, into one batch. Where
 * that is too much, tenants take turns, and their runs, with a piece of a document each.
 */
export class CommitQueue {
  readonly #keep: (batch: Batch) => Promise<void>;
  readonly #goesOn: boolean;
  readonly #failureListeners: ((error: Error) => void)[] = [];
  /** The writers of runs of which not everything is kept. */
  readonly #writers = new Map<string, RunWriter>();
  readonly #ready = new FairQueue<RunWriter>();
  #added: AddedRun[] = [];
  #removed: string[] = [];
  /** The last change of each key, by tenant and key: undefined when it was removed. */
  #keys = new Map<string, { readonly removed: RemovedKey; readonly added: ForgottenKey | undefined }>();
  #audit: AuditRow[] = [];
  /** Resolves when the entries of the audit are kept that are in no batch yet. */
  #auditKept = new Deferred();
  /** Of the last batch. */
  #lastAudit: Promise<void> = DONE;
  #isFlushing = false;
  #hasFailed = false;
  /** Resolves when nothing is left to be kept, or nothing more can be. */
  #idle: Deferred | undefined;

  /**
   * @param keep keeps a batch, and rejects when it cannot
   * @param goesOn runs go on when their facts cannot be kept any more. Default: they stand still
   */
  constructor(keep: (batch: Batch) => Promise<void>, goesOn = false) {
    this.#keep = keep;
    this.#goesOn = goesOn;
  }

  add({ id, number, createdAt, submission }: StoredRun, source?: KeptSource): void {
    const { tenant_id: tenantId, idempotency, rerun } = submission;
    const priority = readPriority(submission.definition);
    this.#added.push({ id, number, createdAt, tenantId, idempotency, priority, rerunOf: rerun?.run_id });
    const writer = this.#writer(id, tenantId);
    writer.addSubmission(submission);
    if (source !== undefined) writer.addSource(source);
    this.#enqueue(writer);
  }

  append(runId: string, tenantId: string, fact: Fact): void {
    if (this.#hasFailed) return;
    const writer = this.#writer(runId, tenantId);
    writer.append(fact);
    this.#enqueue(writer);
  }

  /** Keeps the end of a run together with its last facts. */
  end(end: RunEnd): void {
    if (this.#hasFailed) return;
    const { run_id: runId, tenant_id: tenantId } = end.summary;
    const writer = this.#writer(runId, tenantId);
    writer.addEnd(end);
    this.#enqueue(writer);
  }

  /** Removes the run, and drops everything that it has not written yet. */
  remove(runId: string): void {
    const writer = this.#writers.get(runId);
    this.#removed.push(runId);
    if (writer !== undefined) this.#forget(writer);
    this.#schedule();
  }

  addKey(key: ForgottenKey): void {
    this.#changeKey(key, key);
  }

  removeKey(tenantId: string, key: string): void {
    this.#changeKey({ tenantId, key }, undefined);
  }

  /** Keeps an entry of the audit with the next batch, which has what was changed in the same turn of the event loop. */
  addAudit(row: AuditRow): void {
    if (this.#hasFailed) return;
    this.#audit.push(row);
    this.#schedule();
  }

  /** Resolves when every entry of the audit so far is kept; never when it cannot be. */
  auditKept(): Promise<void> {
    if (this.#hasFailed) return FOREVER;
    return this.#audit.length > 0 ? this.#auditKept.promise : this.#lastAudit;
  }

  #changeKey({ tenantId, key }: RemovedKey, added: ForgottenKey | undefined): void {
    this.#keys.set(JSON.stringify([tenantId, key]), { removed: { tenantId, key }, added });
    this.#schedule();
  }

  /** Resolves when everything so far of the run is kept; when that has failed at once, or never. */
  committed(runId: string): Promise<void> {
    if (this.#hasFailed) return this.#goesOn ? DONE : FOREVER;
    return this.#writers.get(runId)?.committed() ?? DONE;
  }

  /** Resolves when everything so far is kept, or never will be. */
  idle(): Promise<void> {
    if (this.#hasFailed || this.#isIdle) return DONE;
    this.#idle ??= new Deferred();
    return this.#idle.promise;
  }

  onFailure(listener: (error: Error) => void): void {
    this.#failureListeners.push(listener);
  }

  get #isIdle(): boolean {
    return !this.#isFlushing && this.#writers.size === 0;
  }

  #writer(runId: string, tenantId: string): RunWriter {
    let writer = this.#writers.get(runId);
    if (writer === undefined) this.#writers.set(runId, (writer = new RunWriter(runId, tenantId)));
    return writer;
  }

  #enqueue(writer: RunWriter): void {
    if (writer.isQueued || writer.isEmpty) return;
    writer.isQueued = true;
    this.#ready.add(writer.tenantId, writer);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isFlushing || this.#hasFailed) return;
    this.#isFlushing = true;
    inNextTurn(() => void this.#flush());
  }

  async #flush(): Promise<void> {
    while (this.#hasWork && !this.#hasFailed) {
      const progress: Progress = new Map();
      const auditKept = this.#auditKept;
      try {
        await this.#keep(this.#takeBatch(progress));
        auditKept.resolve();
      } catch (error) {
        return this.#fail(toError(error));
      }
      await this.#onKept(progress);
      // The runs that go on now write into one batch again.
      await nextTurn();
    }
    this.#isFlushing = false;
    if (!this.#isIdle) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  get #hasWork(): boolean {
    const sizes = this.#keys.size + this.#ready.size;
    return this.#added.length + this.#removed.length + this.#audit.length + sizes > 0;
  }

  /** @param progress receives how far each run has come */
  #takeBatch(progress: Progress): Batch {
    const ends: RunEnd[] = [];
    const pieces = this.#takePieces(progress, ends);
    const batch = {
      added: this.#added,
      pieces,
      ends,
      removed: this.#removed,
      addedKeys: [...this.#keys.values()].flatMap(({ added }) => added ?? []),
      removedKeys: [...this.#keys.values()].map(({ removed }) => removed),
      audit: this.#audit,
    };
    this.#lastAudit = this.#auditKept.promise;
    this.#auditKept = new Deferred();
    this.#audit = [];
    this.#added = [];
    this.#removed = [];
    this.#keys = new Map();
    return batch;
  }

  #takePieces(progress: Progress, ends: RunEnd[]): Piece[] {
    const pieces: Piece[] = [];
    for (let length = 0; length < MAX_BATCH_LENGTH; ) {
      const writer = this.#ready.next();
      if (writer === undefined) break;
      writer.isQueued = false;
      const piece = writer.take();
      if (piece !== undefined) {
        pieces.push(piece);
        length += piece.text.length;
      }
      const end = writer.takeEnd();
      if (end !== undefined) ends.push(end);
      progress.set(writer, writer.written);
      this.#enqueue(writer);
    }
    return pieces;
  }

  /** Lets the runs go on whose entries are kept, in turns with the other runs. */
  async #onKept(progress: Progress): Promise<void> {
    for (const [writer, written] of progress) {
      writer.onKept(written);
      if (writer.isKept && this.#writers.get(writer.id) === writer) this.#writers.delete(writer.id);
      // Lets the run go on, so that the time that it takes counts.
      await DONE;
      if (eventLoopBudget.exhausted()) await nextTurn();
    }
  }

  #forget(writer: RunWriter): void {
    this.#writers.delete(writer.id);
    this.#ready.delete(writer.tenantId, writer);
    writer.giveUp();
  }

  #fail(error: Error): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    if (this.#goesOn) for (const writer of this.#writers.values()) this.#forget(writer);
    this.#idle?.resolve();
    for (const listener of this.#failureListeners) listener(error);
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

const DONE = Promise.resolve();
const FOREVER = new Promise<void>(() => {});
