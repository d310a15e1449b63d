import { LinkedMap } from '../../../common/memory/linked-map.js';
import { findLargest } from '../../../common/memory/shared-limit.js';
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
interface TenantEntries {
  readonly entries: LinkedMap<string, Entry>;
  bytes: number;
}

/** Keeps outputs in memory, within one limit: the tenant that has most loses what it has not used for longest (D25). */
export class MemoryCache {
  readonly #maxBytes: number;
  readonly #byTenant = new Map<string, TenantEntries>();
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  get usedBytes(): number {
    return this.#bytes;
  }

  get({ tenantId, hash }: CacheKey, now: number): CachedOutput | undefined {
    const tenant = this.#byTenant.get(tenantId);
    const entry = tenant?.entries.get(hash);
    if (tenant === undefined || entry === undefined) return undefined;
    if (entry.expiresAt <= now) {
      this.#delete(tenant, entry);
      return undefined;
    }
    tenant.entries.delete(hash);
    tenant.entries.add(hash, entry);
    return entry;
  }

  /** Keeps an output, unless it is larger than a fourth of the limit. */
  set(key: CacheKey, cached: CachedOutput, expiresAt: number): void {
    const bytes = measure(cached);
    if (bytes > this.#maxBytes / 4) return;
    const before = this.#byTenant.get(key.tenantId);
    const old = before?.entries.get(key.hash);
    if (before !== undefined && old !== undefined) this.#delete(before, old);
    while (this.#bytes + bytes > this.#maxBytes && this.#evict());
    const tenant = this.#byTenant.get(key.tenantId) ?? { entries: new LinkedMap(), bytes: 0 };
    this.#byTenant.set(key.tenantId, tenant);
    tenant.entries.add(key.hash, { ...cached, key, expiresAt });
    tenant.bytes += bytes;
    this.#bytes += bytes;
  }

  #evict(): boolean {
    const largest = findLargest(this.#byTenant.values(), ({ bytes }) => bytes);
    const oldest = largest?.entries.first;
    if (largest === undefined || oldest === undefined) return false;
    this.#delete(largest, oldest);
    return true;
  }

  #delete(tenant: TenantEntries, entry: Entry): void {
    const bytes = measure(entry);
    tenant.entries.delete(entry.key.hash);
    tenant.bytes -= bytes;
    this.#bytes -= bytes;
    if (tenant.entries.size === 0) this.#byTenant.delete(entry.key.tenantId);
  }
}

function measure({ sizeBytes }: CachedOutput): number {
  return ENTRY_BYTES + sizeBytes;
}
