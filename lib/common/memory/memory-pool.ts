import { WavetrainError } from '../errors.js';
import { type Limit, SharedLimit } from './shared-limit.js';
import { formatMebibytes } from '../text.js';

/** Frees some memory that is not needed now, for a tenant that needs it; returns false when there is none to free. */
export type Reclaim = (tenantId: string) => boolean;

/**
 * The memory that requests, runs and responses may take together, in bytes (Limits). Tenants share it as any other
 * limit (D25). Parts that keep memory not needed now, such as that of settled runs, free it when others need it.
 */
export class MemoryPool {
  readonly totalBytes: number;
  readonly #limit: SharedLimit;
  #reclaim: Reclaim = () => false;

  constructor(limit: Limit) {
    this.totalBytes = limit.total;
    this.#limit = new SharedLimit(limit);
  }

  get usedBytes(): number {
    return this.#limit.used;
  }

  get largestBytes(): number {
    return this.#limit.largest;
  }

  usedBy(tenantId: string): number {
    return this.#limit.usedBy(tenantId);
  }

  /** True when the tenant uses no more than it is guaranteed, so that nobody may take memory away from it. */
  isWithinGuarantee(tenantId: string): boolean {
    return this.#limit.isWithinGuarantee(tenantId);
  }

  onPressure(reclaim: Reclaim): void {
    this.#reclaim = reclaim;
  }

  /** Takes the memory; returns false, and takes nothing, when there is no room even after memory was reclaimed. */
  tryReserve(tenantId: string, bytes: number): boolean {
    if (bytes > this.totalBytes) return false;
    while (!this.#limit.tryAcquire(tenantId, bytes)) if (!this.#reclaim(tenantId)) return false;
    return true;
  }

  /** Takes the memory that a request needs for a part, `body` or `response`. @throws WavetrainError `memory_full` */
  reserve(tenantId: string, bytes: number, part: string): void {
    if (this.tryReserve(tenantId, bytes)) return;
    const sizes = [bytes, this.usedBy(tenantId), this.usedBytes, this.totalBytes];
    const [needed, own, used, total] = sizes.map(formatMebibytes);
    throw new WavetrainError(
      'memory_full',
      `no memory is left for the ${part}, which takes ${needed}: tenant "${tenantId}" uses ${own}, all tenants ${used} ` +
        `of the ${total} of SERVICE_MEMORY; try again when some requests and runs have ended`,
      { fault: 'service' },
    );
  }

  /** Takes what was promised before, whether or not there is room. */
  take(tenantId: string, bytes: number): void {
    this.#limit.acquire(tenantId, bytes);
  }

  /** Takes the memory only if it is free now. */
  tryReserveFree(tenantId: string, bytes: number): boolean {
    return this.#limit.tryAcquire(tenantId, bytes);
  }

  release(tenantId: string, bytes: number): void {
    this.#limit.release(tenantId, bytes);
  }
}
