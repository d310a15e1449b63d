import type { JsonObject } from '../../../common/json/json.js';
import { DOCUMENT_LIMITS } from '../../../common/limits.js';
import type { Steps } from '../../../common/scheduling/steps.js';
import { pagesOf } from '../../documents/document.js';
import { runLongWork } from '../../../common/scheduling/run-in-slices.js';
import type { ToolContext } from '../../tool.js';
import { Bm25Index } from './bm25.js';
import { pageChunks, smallChunks } from './chunks.js';

export type Granularity = 'page' | 'chunk';

/** The index of a document in one run, from when it is asked for. */
class CachedIndex {
  readonly index: Promise<Bm25Index>;
  /** Resolves when the index begins to be made. */
  readonly begun: Promise<void>;
  readonly #document: JsonObject;
  readonly #ofRun: Map<JsonObject, CachedIndex>;
  readonly #maker: AbortSignal;

  /**
   * @param maker the signal of the attempt that makes it
   * @param make creates the index in its turn, and calls the function that it is given when the turn has come
   */
  constructor(
    document: JsonObject,
    ofRun: Map<JsonObject, CachedIndex>,
    maker: AbortSignal,
    make: (onBegin: () => void) => Promise<Bm25Index>,
  ) {
    this.#document = document;
    this.#ofRun = ofRun;
    this.#maker = maker;
    let begin = (): void => undefined;
    this.begun = new Promise((resolve) => {
      begin = resolve;
    });
    this.index = make(() => begin());
    ofRun.set(document, this);
    // Queries that wait for the index get the error; later ones have it made again.
    this.index.catch(() => {
      begin();
      this.forget();
    });
  }

  /** True when the run would find this index: another may have taken its place. */
  get isPresent(): boolean {
    return this.#ofRun.get(this.#document) === this;
  }

  /** True when the attempt that makes the index has ended, so that perhaps nobody completes it. */
  get isAbandoned(): boolean {
    return this.#maker.aborted;
  }

  forget(): void {
    if (this.isPresent) this.#ofRun.delete(this.#document);
  }
}

/**
 * Keeps the index of a document for further queries of the same run, so that they take no time. All runs together keep
 * those that were used last, up to an amount of memory: an index stays until others take its place, even when its run has
 * ended. While an index is made, it counts as memory of the run.
 */
export class IndexCache {
  /** With their memory, in bytes. The least recently used comes first. */
  readonly #kept = new Map<CachedIndex, number>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number = DOCUMENT_LIMITS.indexedBytes) {
    this.#maxBytes = maxBytes;
  }

  /** Memory of the indexes that are kept and of their documents, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Returns the index of a document, which is known by its identity: the outputs of tasks do not change. The time limit
   * of the attempt pauses until the index begins to be made. Rejects with a ToolError, not retryable, when the index
   * would be too large.
   */
  async get(document: JsonObject, granularity: Granularity, context: ToolContext): Promise<Bm25Index> {
    const ofRun = indexesOf(context.memory, granularity);
    for (;;) {
      const present = ofRun.get(document);
      const cached = present ?? createCached(document, granularity, ofRun, context);
      const resumeTimeout = context.pauseTimeout();
      await cached.begun;
      resumeTimeout();
      try {
        const index = await cached.index;
        this.#keep(cached, measure(document) + index.bytes);
        return index;
      } catch (error) {
        // The attempt that made it ended: this one makes it.
        if (present === undefined || !cached.isAbandoned || context.signal.aborted) throw error;
      }
    }
  }

  #keep(cached: CachedIndex, bytes: number): void {
    this.#drop(cached);
    // The index was dropped while this query waited for it.
    if (!cached.isPresent) return;
    this.#kept.set(cached, bytes);
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#drop(oldest);
      oldest.forget();
    }
  }

  #drop(cached: CachedIndex): void {
    this.#bytes -= this.#kept.get(cached) ?? 0;
    this.#kept.delete(cached);
  }
}

function createCached(
  document: JsonObject,
  granularity: Granularity,
  ofRun: Map<JsonObject, CachedIndex>,
  context: ToolContext,
): CachedIndex {
  const { tenant_id, signal, holdMemory } = context;
  return new CachedIndex(document, ofRun, signal, (onBegin) =>
    // Each attempt that waits for the index pauses its own time limit.
    runLongWork({ tenant_id, signal }, () => {
      onBegin();
      return createIndex(document, granularity, holdMemory);
    }),
  );
}

function* createIndex(
  document: JsonObject,
  granularity: Granularity,
  hold: (bytes: number) => void,
): Steps<Bm25Index> {
  // The texts of the chunks are copies.
  hold(measure(document));
  const chunks = yield* granularity === 'page' ? pageChunks(document) : smallChunks(document);
  return yield* Bm25Index.create(chunks, hold);
}

function measure(document: JsonObject): number {
  return pagesOf(document).reduce((sum, { text }) => sum + 2 * text.length + 100, 0);
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
