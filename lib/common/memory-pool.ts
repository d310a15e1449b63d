import { type Limit, SharedLimit } from './shared-limit.js';

/**
 * The memory that requests, runs and responses may take together, in bytes (Limits). Tenants share it as any other
 * limit (D25). Whoever keeps memory that is not needed now, such as settled runs, frees it when others need it.
 */
export class MemoryPool {
  readonly #limit: SharedLimit;
  #reclaim: () => boolean = () => false;

  constructor(limit: Limit) {
    this.#limit = new SharedLimit(limit);
  }

  get usedBytes(): number {
    return this.#limit.used;
  }

  usedBy(tenantId: string): number {
    return this.#limit.usedBy(tenantId);
  }

  /** @param reclaim frees some memory that is not needed now; returns false when there is none */
  onPressure(reclaim: () => boolean): void {
    this.#reclaim = reclaim;
  }

  /** Takes the memory; returns false, and takes nothing, when there is no room even after memory was reclaimed. */
  tryReserve(tenantId: string, bytes: number): boolean {
    while (!this.#limit.tryAcquire(tenantId, bytes)) if (!this.#reclaim()) return false;
    return true;
  }

  release(tenantId: string, bytes: number): void {
    this.#limit.release(tenantId, bytes);
  }
}
