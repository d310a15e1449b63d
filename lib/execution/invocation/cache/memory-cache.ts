import { LinkedMap } from '../../../common/linked-map.js';
import { findLargest } from '../../../common/shared-limit.js';
import type { CachedOutput, CacheKey } from './cached-output.js';

/** Memory of an entry without its output. */
const ENTRY_BYTES = 512;

/** Memory of all outputs that are kept, in bytes (Limits). */
const MAX_BYTES = 64 * 2 ** 20;

interface Entry extends CachedOutput {
  readonly key: CacheKey;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** The entries of one tenant, the least recently used first. */
interface Shelf {
  readonly entries: LinkedMap<string, Entry>;
  bytes: number;
}

/**
 * Keeps outputs in memory, within a limit that all tenants share: when there is no room, the tenant that has most loses
 * what it has not used for longest (D25).
 */
export class MemoryCache {
  readonly #maxBytes: number;
  readonly #shelves = new Map<string, Shelf>();
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  get usedBytes(): number {
    return this.#bytes;
  }

  get({ tenantId, hash }: CacheKey, now: number): CachedOutput | undefined {
    const shelf = this.#shelves.get(tenantId);
    const entry = shelf?.entries.get(hash);
    if (shelf === undefined || entry === undefined) return undefined;
    if (entry.expiresAt <= now) {
      this.#delete(shelf, entry);
      return undefined;
    }
    shelf.entries.delete(hash);
    shelf.entries.add(hash, entry);
    return entry;
  }

  /** Keeps an output, unless it is larger than a fourth of the limit. */
  set(key: CacheKey, cached: CachedOutput, expiresAt: number): void {
    const bytes = measure(cached);
    if (bytes > this.#maxBytes / 4) return;
    const before = this.#shelves.get(key.tenantId);
    const old = before?.entries.get(key.hash);
    if (before !== undefined && old !== undefined) this.#delete(before, old);
    while (this.#bytes + bytes > this.#maxBytes && this.#evict());
    const shelf = this.#shelves.get(key.tenantId) ?? { entries: new LinkedMap(), bytes: 0 };
    this.#shelves.set(key.tenantId, shelf);
    shelf.entries.add(key.hash, { ...cached, key, expiresAt });
    shelf.bytes += bytes;
    this.#bytes += bytes;
  }

  #evict(): boolean {
    const largest = findLargest(this.#shelves.values(), ({ bytes }) => bytes);
    const oldest = largest?.entries.first;
    if (largest === undefined || oldest === undefined) return false;
    this.#delete(largest, oldest);
    return true;
  }

  #delete(shelf: Shelf, entry: Entry): void {
    const bytes = measure(entry);
    shelf.entries.delete(entry.key.hash);
    shelf.bytes -= bytes;
    this.#bytes -= bytes;
    if (shelf.entries.size === 0) this.#shelves.delete(entry.key.tenantId);
  }
}

function measure({ sizeBytes }: CachedOutput): number {
  return ENTRY_BYTES + sizeBytes;
}
