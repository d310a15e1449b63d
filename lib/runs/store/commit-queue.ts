import { FairQueue } from '../../common/queues/fair-queue.js';
import { runWithPauses } from '../../common/steps.js';
import { writeJsonInSteps } from '../../common/json-writer.js';
import { eventLoopBudget, nextSlice } from '../../execution/event-loop-budget.js';
import type { Fact } from '../../execution/history/fact.js';
import type { ForgottenKey } from '../idempotency.js';
import type { KeptSource, StoredRun } from './run-store.js';
import { Deferred, RunWriter } from './run-writer.js';

/** The longest text that is kept at once, in UTF-16 code units: between two of them, other runs are kept. */
const MAX_PIECE_LENGTH = 256 * 1024;

/** With more than that, in UTF-16 code units, what is left of other runs comes with the next batch. */
const MAX_BATCH_LENGTH = 4 * 1024 * 1024;

/** What is kept together. */
export interface Batch {
  readonly added: readonly AddedRun[];
  /** In order, those of each run as well. */
  readonly pieces: readonly Piece[];
  readonly removed: readonly string[];
  /** After those that are removed. */
  readonly addedKeys: readonly ForgottenKey[];
  readonly removedKeys: readonly RemovedKey[];
}

/** A key of a run that is no longer kept. */
export type RemovedKey = Pick<ForgottenKey, 'tenantId' | 'key'>;

/** A run without its submission, which is the first of its documents. */
export type AddedRun = Pick<StoredRun, 'id' | 'number' | 'createdAt'>;

/** A JSON document of a run, or a part of one: its submission first, then lists of what it may reuse and of facts. */
export interface Piece {
  readonly runId: string;
  readonly text: string;
  /** The document goes on with the next piece of the run. */
  readonly goesOn: boolean;
}

/** A large document that is kept piece by piece. */
interface LargeText {
  readonly writer: RunWriter;
  readonly kept: Deferred;
  readonly text: string;
  offset: number;
}

/**
 * Collects what all runs write in a turn of the event loop, or while the batch before is being kept, into one batch. What
 * is large is kept piece by piece, tenants taking turns, while other runs go on; nothing else of its run comes before it.
 */
export class CommitQueue {
  readonly #keep: (batch: Batch) => Promise<void>;
  readonly #goesOn: boolean;
  readonly #failureListeners: ((error: Error) => void)[] = [];
  /** Those that have something to be kept. */
  readonly #writers = new Map<string, RunWriter>();
  /** Those of which the next segment is not large. */
  readonly #ready = new Set<RunWriter>();
  readonly #large = new FairQueue<RunWriter>();
  #largeText: LargeText | undefined;
  #isWritingLarge = false;
  #added: AddedRun[] = [];
  #removed: string[] = [];
  /** The last change of each key, by tenant and key: undefined when it was removed. */
  #keys = new Map<string, { readonly removed: RemovedKey; readonly added: ForgottenKey | undefined }>();
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

  /** @param bytes about as many as the submission takes */
  add({ id, number, createdAt, submission }: StoredRun, bytes: number, source?: KeptSource): void {
    this.#added.push({ id, number, createdAt });
    const writer = this.#writer(id, submission.tenant_id);
    writer.addSubmission(submission, bytes);
    if (source !== undefined) writer.addSource(source);
    this.#enqueue(writer);
  }

  append(runId: string, tenantId: string, fact: Fact): void {
    if (this.#hasFailed) return;
    const writer = this.#writer(runId, tenantId);
    const isNext = writer.segments.length === 0;
    writer.append(fact);
    if (isNext && !this.#isBeingWritten(writer)) this.#enqueue(writer);
  }

  /** What the run has not written yet is not written any more. */
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

  #changeKey({ tenantId, key }: RemovedKey, added: ForgottenKey | undefined): void {
    this.#keys.set(JSON.stringify([tenantId, key]), { removed: { tenantId, key }, added });
    this.#schedule();
  }

  /** Resolves when everything so far of the run is kept; when that has failed at once, or never. */
  committed(runId: string): Promise<void> {
    if (this.#hasFailed) return this.#goesOn ? DONE : FOREVER;
    return this.#writers.get(runId)?.kept ?? DONE;
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

  #isBeingWritten(writer: RunWriter): boolean {
    return this.#largeText?.writer === writer;
  }

  /** What comes next of a run is either small, or waits until a large document can be written. */
  #enqueue(writer: RunWriter): void {
    const next = writer.segments[0];
    if (next === undefined) return;
    if ('document' in next) {
      this.#large.add(writer.tenantId, writer);
      void this.#writeNextLarge();
      return;
    }
    this.#ready.add(writer);
    this.#schedule();
  }

  /** Makes the text of one large document at a time: it takes memory that no limit counts. */
  async #writeNextLarge(): Promise<void> {
    if (this.#isWritingLarge) return;
    this.#isWritingLarge = true;
    for (let writer = this.#large.next(); writer !== undefined; writer = this.#large.next()) {
      const { document, kept } = writer.takeLarge();
      const text = { writer, kept, text: '', offset: 0 };
      this.#largeText = text;
      const { tenantId } = writer;
      let json: string;
      try {
        json = await runWithPauses(writeJsonInSteps(document), () => pause(tenantId));
      } catch (error) {
        // Longer than any text can be: without it the run cannot be rebuilt.
        return this.#fail(toError(error), [kept]);
      }
      // The run may have been removed meanwhile.
      if (this.#largeText !== text) continue;
      this.#largeText = { ...text, text: json };
      this.#schedule();
      await kept.promise;
    }
    this.#isWritingLarge = false;
  }

  #schedule(): void {
    if (this.#isFlushing || this.#hasFailed) return;
    this.#isFlushing = true;
    setImmediate(() => void this.#flush());
  }

  async #flush(): Promise<void> {
    while (this.#hasWork && !this.#hasFailed) {
      const kept: Deferred[] = [];
      try {
        await this.#keep(this.#takeBatch(kept));
      } catch (error) {
        return this.#fail(toError(error), kept);
      }
      await resolveInSlices(kept);
      // What goes on now belongs together again.
      await nextTurn();
    }
    this.#isFlushing = false;
    if (!this.#isIdle) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  get #hasWork(): boolean {
    return (
      this.#added.length > 0 ||
      this.#removed.length > 0 ||
      this.#keys.size > 0 ||
      this.#ready.size > 0 ||
      (this.#largeText !== undefined && this.#largeText.text !== '')
    );
  }

  /** @param kept receives what is to be resolved when the batch is kept */
  #takeBatch(kept: Deferred[]): Batch {
    const pieces: Piece[] = [];
    let length = 0;
    let counted = 0;
    for (const writer of this.#ready) {
      this.#ready.delete(writer);
      this.#takeSmall(writer, pieces, kept);
      for (; counted < pieces.length; counted++) length += pieces[counted]?.text.length ?? 0;
      if (length > MAX_BATCH_LENGTH || eventLoopBudget.exhausted()) break;
    }
    this.#takeLarge(pieces, kept);
    const batch = {
      added: this.#added,
      pieces,
      removed: this.#removed,
      addedKeys: [...this.#keys.values()].flatMap(({ added }) => added ?? []),
      removedKeys: [...this.#keys.values()].map(({ removed }) => removed),
    };
    this.#added = [];
    this.#removed = [];
    this.#keys = new Map();
    return batch;
  }

  #takeSmall(writer: RunWriter, pieces: Piece[], kept: Deferred[]): void {
    for (let next = writer.segments[0]; next !== undefined && 'texts' in next; next = writer.segments[0]) {
      writer.take();
      const isList = next.texts[0] === '[';
      addPieces(writer.id, next.texts.join('') + (isList ? ']' : ''), pieces);
      kept.push(next.kept);
    }
    if (writer.segments.length > 0) this.#enqueue(writer);
    else this.#forgetWhenKept(writer, kept.at(-1));
  }

  #takeLarge(pieces: Piece[], kept: Deferred[]): void {
    const large = this.#largeText;
    if (large === undefined || large.text === '') return;
    const { writer, text } = large;
    const end = findEnd(text, large.offset);
    pieces.push({ runId: writer.id, text: text.slice(large.offset, end), goesOn: end < text.length });
    large.offset = end;
    if (end < text.length) return;
    this.#largeText = undefined;
    kept.push(large.kept);
    if (writer.segments.length > 0) this.#enqueue(writer);
    else this.#forgetWhenKept(writer, large.kept);
  }

  #forgetWhenKept(writer: RunWriter, last: Deferred | undefined): void {
    void last?.promise.then(() => {
      if (writer.kept === last.promise && this.#writers.get(writer.id) === writer) {
        this.#writers.delete(writer.id);
      }
    });
  }

  #forget(writer: RunWriter): void {
    this.#writers.delete(writer.id);
    this.#ready.delete(writer);
    this.#large.delete(writer.tenantId, writer);
    for (const { kept } of writer.segments.splice(0)) kept.resolve();
    if (!this.#isBeingWritten(writer)) return;
    this.#largeText?.kept.resolve();
    this.#largeText = undefined;
  }

  /** @param kept what waits for the batch that has failed */
  #fail(error: Error, kept: readonly Deferred[]): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    if (this.#goesOn) {
      for (const { resolve } of kept) resolve();
      for (const writer of this.#writers.values()) this.#forget(writer);
    }
    this.#idle?.resolve();
    for (const listener of this.#failureListeners) listener(error);
  }
}

/** Long texts are divided, but not between two surrogates: they would not be the same text in UTF-8. */
function findEnd(text: string, start: number): number {
  const end = start + MAX_PIECE_LENGTH;
  if (end >= text.length) return text.length;
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code < 0xdc00 ? end - 1 : end;
}

function addPieces(runId: string, text: string, pieces: Piece[]): void {
  for (let start = 0; start < text.length; ) {
    const end = findEnd(text, start);
    pieces.push({ runId, text: text.slice(start, end), goesOn: end < text.length });
    start = end;
  }
}

/** Those that go on share the event loop with the other runs. */
async function resolveInSlices(kept: readonly Deferred[]): Promise<void> {
  for (const { resolve } of kept) {
    resolve();
    // Lets it go on, so that the time that it takes counts.
    await DONE;
    if (eventLoopBudget.exhausted()) await nextTurn();
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function pause(tenantId: string): Promise<void> | undefined {
  return eventLoopBudget.exhausted() ? nextSlice(eventLoopBudget.forTenant(tenantId)) : undefined;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

const DONE = Promise.resolve();
const FOREVER = new Promise<void>(() => {});
