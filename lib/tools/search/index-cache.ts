import { setImmediate } from 'node:timers/promises';
import type { JsonObject } from '../../common/json.js';
import { DOCUMENT_LIMITS } from '../../common/limits.js';
import { runWithPauses, type Steps } from '../../common/steps.js';
import { pagesOf } from '../documents/document.js';
import { ConcurrencyLimiter } from '../../common/queues/limiters.js';
import type { ToolContext } from '../tool.js';
import { Bm25Index } from './bm25.js';
import { pageChunks, smallChunks } from './chunks.js';

export type Granularity = 'page' | 'chunk';

/** The index of a document in one run, from when it is asked for. */
class CachedIndex {
  readonly index: Promise<Bm25Index>;
  /** Resolves when the index begins to be made. */
  readonly begun: Promise<void>;
  /** Of the texts, in characters. */
  readonly length: number;
  readonly #document: JsonObject;
  readonly #ofRun: Map<JsonObject, CachedIndex>;

  /** @param make creates the index in its turn, and calls the function that it is given when the turn has come */
  constructor(
    document: JsonObject,
    ofRun: Map<JsonObject, CachedIndex>,
    make: (onBegin: () => void) => Promise<Bm25Index>,
  ) {
    this.#document = document;
    this.#ofRun = ofRun;
    this.length = measure(document);
    let begin = (): void => undefined;
    this.begun = new Promise((resolve) => {
      begin = resolve;
    });
    this.index = make(() => begin());
    ofRun.set(document, this);
    // Those who wait for it get the error; those who ask later have it made again.
    this.index.catch(() => {
      begin();
      this.forget();
    });
  }

  /** Whether the run would find it: another may have taken its place. */
  get isPresent(): boolean {
    return this.#ofRun.get(this.#document) === this;
  }

  forget(): void {
    if (this.isPresent) this.#ofRun.delete(this.#document);
  }
}

/**
 * Keeps the index of a document for further queries of the same run, so that they take no time. All runs together keep
 * those that were used last, up to a length of text: an index stays until others take its place, even when its run has
 * ended. Each tenant makes one at a time, and all tenants together two, with pauses.
 */
export class IndexCache {
  /** The least recently used comes first. */
  readonly #kept = new Set<CachedIndex>();
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

  /**
   * Returns the index of a document, which is known by its identity: the outputs of tasks do not change. The time limit
   * of the attempt pauses until the index begins to be made.
   */
  async get(document: JsonObject, granularity: Granularity, context: ToolContext): Promise<Bm25Index> {
    const ofRun = indexesOf(context.memory, granularity);
    const cached = ofRun.get(document) ?? this.#create(document, granularity, ofRun, context.tenant_id);
    const resumeTimeout = context.pauseTimeout();
    await cached.begun;
    resumeTimeout();
    const index = await cached.index;
    this.#keep(cached);
    return index;
  }

  #create(
    document: JsonObject,
    granularity: Granularity,
    ofRun: Map<JsonObject, CachedIndex>,
    tenantId: string,
  ): CachedIndex {
    // Others may come to wait for the same index, so its turn does not end with the attempt that asked first, and each
    // attempt pauses its own time limit.
    const turn = { tenant_id: tenantId, signal: NEVER, pauseTimeout: () => () => undefined };
    return new CachedIndex(document, ofRun, (onBegin) =>
      this.#limiter.run(turn, () => {
        onBegin();
        return createIndex(document, granularity);
      }),
    );
  }

  #keep(cached: CachedIndex): void {
    if (this.#kept.delete(cached)) this.#length -= cached.length;
    // It was dropped while this query waited for it.
    if (!cached.isPresent) return;
    this.#kept.add(cached);
    this.#length += cached.length;
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

function indexesOf(memory: Map<string, unknown>, granularity: Granularity): Map<JsonObject, CachedIndex> {
  const key = KEYS[granularity];
  const present = memory.get(key);
  if (present instanceof Map) return present as Map<JsonObject, CachedIndex>;
  const created = new Map<JsonObject, CachedIndex>();
  memory.set(key, created);
  return created;
}
