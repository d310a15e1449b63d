import { setImmediate } from 'node:timers/promises';
import type { JsonObject } from '../../common/json.js';
import { DOCUMENT_LIMITS } from '../../common/limits.js';
import { runWithPauses, type Steps } from '../../common/steps.js';
import { pagesOf } from '../documents/document.js';
import { ConcurrencyLimiter } from '../limiters.js';
import type { ToolContext } from '../tool.js';
import { Bm25Index } from './bm25.js';
import { pageChunks, smallChunks } from './chunks.js';

export type Granularity = 'page' | 'chunk';

/** An index that is being made or kept. */
interface Slot {
  readonly index: Promise<Bm25Index>;
  readonly length: number;
  /** Removes it from the memory of its run. */
  readonly forget: () => void;
}

/**
 * Keeps the index of a document while its run lasts, so that a second query on it takes no time. All runs together keep
 * those that were used last, up to a length of text, and one at a time is made, with pauses.
 */
export class IndexCache {
  /** The least recently used comes first. */
  readonly #kept = new Set<Slot>();
  readonly #maxLength: number;
  readonly #limiter = new ConcurrencyLimiter({ total: 1, guaranteed: 1 });
  #length = 0;

  constructor(maxLength: number = DOCUMENT_LIMITS.indexedLength) {
    this.#maxLength = maxLength;
  }

  /** Length of the texts whose indexes are kept, in characters. */
  get length(): number {
    return this.#length;
  }

  /** Returns the index of a document, which is known by its identity: the outputs of tasks do not change. */
  async get(document: JsonObject, granularity: Granularity, context: ToolContext): Promise<Bm25Index> {
    const slots = slotsOf(context.memory, granularity);
    const present = slots.get(document);
    if (present !== undefined) {
      const index = await present.index;
      this.#keep(present);
      return index;
    }
    // Others may come to wait for the same index, so it does not end with the attempt that asked first.
    const turn = { tenant_id: context.tenant_id, signal: NEVER, pauseTimeout: () => () => undefined };
    const slot: Slot = {
      index: this.#limiter.run(turn, () => createIndex(document, granularity)),
      length: measure(document),
      forget: () => slots.delete(document),
    };
    slots.set(document, slot);
    const index = await slot.index;
    this.#keep(slot);
    return index;
  }

  #keep(slot: Slot): void {
    if (this.#kept.delete(slot)) this.#length -= slot.length;
    this.#kept.add(slot);
    this.#length += slot.length;
    for (const oldest of this.#kept) {
      if (this.#length <= this.#maxLength) return;
      this.#kept.delete(oldest);
      this.#length -= oldest.length;
      oldest.forget();
    }
  }
}

const NEVER = new AbortController().signal;

function createIndex(document: JsonObject, granularity: Granularity): Promise<Bm25Index> {
  return runWithPauses(indexInSteps(document, granularity), () => setImmediate());
}

function* indexInSteps(document: JsonObject, granularity: Granularity): Steps<Bm25Index> {
  const chunks = yield* granularity === 'page' ? pageChunks(document) : smallChunks(document);
  return yield* Bm25Index.create(chunks);
}

function measure(document: JsonObject): number {
  return pagesOf(document).reduce((sum, { text }) => sum + text.length + 100, 0);
}

const KEYS: Readonly<Record<Granularity, string>> = { page: 'select.pages', chunk: 'select.chunks' };

function slotsOf(memory: Map<string, unknown>, granularity: Granularity): Map<JsonObject, Slot> {
  const key = KEYS[granularity];
  const present = memory.get(key);
  if (present instanceof Map) return present as Map<JsonObject, Slot>;
  const created = new Map<JsonObject, Slot>();
  memory.set(key, created);
  return created;
}
