import { ToolError, WavetrainError } from '../common/errors.js';
import { MAX_ARTIFACT_BYTES } from '../common/limits.js';
import type { MemoryPool } from '../common/memory/memory-pool.js';
import { formatMebibytes } from '../common/text.js';

/** A run at work takes this much from the pool at once, so that most of its tasks need not ask the pool. */
const CHUNK_BYTES = 64 * 1024;

const NOTHING_TO_RECLAIM = (): boolean => false;

/** The memory of one submitted run (Limits): from the pool that all tenants share (D25), or else within a limit of its own. */
export class MemoryBudget {
  readonly #limitBytes: number;
  readonly #pool: MemoryPool | undefined;
  readonly #tenantId: string;
  readonly #disk: MemoryPool | undefined;
  #usedBytes = 0;
  #diskBytes = 0;
  /** The memory that the run may use before it must ask the pool. */
  #availableBytes: number;
  protected isClosed = false;
  #reclaim: () => boolean = NOTHING_TO_RECLAIM;
  /** Set while a run is rebuilt: it takes the memory that it had in another process, even if none is left (D68). */
  isGranted = false;

  /**
   * @param limitBytes of what the run makes, when there is no pool
   * @param disk that the large files of all runs share
   */
  constructor(limitBytes: number, pool?: MemoryPool, tenantId = '', disk?: MemoryPool) {
    this.#limitBytes = limitBytes;
    this.#pool = pool;
    this.#disk = disk;
    this.#tenantId = tenantId;
    this.#availableBytes = pool === undefined ? limitBytes : 0;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** The limit for messages: `the limit of 10 MiB`. */
  get limitText(): string {
    return this.#pool === undefined
      ? `the limit of ${formatMebibytes(this.#limitBytes)}`
      : 'all the memory that the server has for this run';
  }

  /** Adds something that frees memory, and returns false when it has none; the one added last is asked first. */
  onPressure(reclaim: () => boolean): void {
    const earlier = this.#reclaim;
    this.#reclaim = earlier === NOTHING_TO_RECLAIM ? reclaim : () => reclaim() || earlier();
  }

  /** Takes the memory of what the run was given, besides any limit. Returns false, and takes nothing, when the pool has none. */
  admit(bytes: number): boolean {
    if (this.#pool?.tryReserve(this.#tenantId, bytes) === false) return false;
    this.#availableBytes += bytes;
    this.#usedBytes += bytes;
    return true;
  }

  /** Takes the memory; returns false, and takes nothing, when there is none left, or when the run was forgotten. */
  tryReserve(bytes: number): boolean {
    while (this.#usedBytes + bytes > this.#availableBytes) {
      const missing = this.#usedBytes + bytes - this.#availableBytes;
      if (this.isGranted && !this.isClosed) this.#takeGranted(missing);
      else if (!this.#grow(missing) && !this.#reclaim()) return false;
    }
    this.#usedBytes += bytes;
    return true;
  }

  /** @throws ToolError, not retryable, when there is no memory left */
  reserve(bytes: number): void {
    if (!this.tryReserve(bytes)) throw ToolError.nonRetryable(this.#describeExhaustion());
  }

  /** Takes the disk of a large file, or of a part of one. @throws ToolError, not retryable, when there is no room */
  reserveDisk(bytes: number): void {
    if (this.isGranted) return this.takeDisk(bytes);
    if (this.#disk?.tryReserve(this.#tenantId, bytes) === false) {
      const total = formatMebibytes(this.#disk.totalBytes);
      throw ToolError.nonRetryable(
        `the server has no room left for this file: large files of all runs together may take ${total}; ` +
          'wait until earlier runs are deleted, write less, or raise SERVICE_ARTIFACT_BYTES',
      );
    }
    this.#diskBytes += bytes;
  }

  /** Takes the disk of files that are there already, whether or not there is room. */
  takeDisk(bytes: number): void {
    this.#disk?.take(this.#tenantId, bytes);
    this.#diskBytes += bytes;
  }

  releaseDisk(bytes: number): void {
    if (this.isClosed) return;
    this.#disk?.release(this.#tenantId, bytes);
    this.#diskBytes -= bytes;
  }

  /** Takes what a file takes: memory, or disk when it is large. @throws ToolError, not retryable, when there is none left */
  reserveFile(bytes: number): void {
    if (isLargeFile(bytes)) this.reserveDisk(bytes);
    else this.reserve(bytes);
  }

  releaseFile(bytes: number): void {
    if (isLargeFile(bytes)) this.releaseDisk(bytes);
    else this.release(bytes);
  }

  release(bytes: number): void {
    if (this.isClosed) return;
    this.#usedBytes -= bytes;
    if (this.#pool !== undefined && this.#availableBytes - this.#usedBytes > 2 * CHUNK_BYTES) {
      this.#shrinkTo(this.#usedBytes + CHUNK_BYTES);
    }
  }

  /** Returns to the pool what the run does not use. Call when it has settled. */
  trim(): void {
    if (this.#pool !== undefined) this.#shrinkTo(this.#usedBytes);
  }

  /** Returns everything to the pool. Nothing can be taken later, and what is released later does not count. */
  close(): void {
    this.#reclaim = NOTHING_TO_RECLAIM;
    this.releaseDisk(this.#diskBytes);
    this.#usedBytes = 0;
    this.trim();
    this.#availableBytes = 0;
    this.isClosed = true;
  }

  /** Evicts nothing of others: the memory was reserved before the run was rebuilt. */
  #takeGranted(bytes: number): void {
    this.#pool?.take(this.#tenantId, bytes);
    this.#availableBytes += bytes;
  }

  #grow(bytes: number): boolean {
    if (this.#pool === undefined || this.isClosed) return false;
    if (this.#pool.tryReserveFree(this.#tenantId, bytes + CHUNK_BYTES)) this.#availableBytes += CHUNK_BYTES;
    else if (!this.#pool.tryReserve(this.#tenantId, bytes)) return false;
    this.#availableBytes += bytes;
    return true;
  }

  #shrinkTo(bytes: number): void {
    this.#pool?.release(this.#tenantId, this.#availableBytes - bytes);
    this.#availableBytes = bytes;
  }

  #describeExhaustion(): string {
    if (this.#pool === undefined) {
      return `the run takes more memory than ${this.limitText}: return less, or files`;
    }
    const [run, all] = [this.#usedBytes, this.#pool.totalBytes].map(formatMebibytes);
    return (
      `the server has no memory left for this run: it takes ${run} of the ${all} for everything together; ` +
      'wait for other runs, return less, or raise SERVICE_MEMORY'
    );
  }
}

/**
 * Takes the memory of what a run was given.
 *
 * @param isRestored the run takes what it had in another process, even if no memory is left
 * @throws WavetrainError `queue_full`
 */
export function admitRun(budget: MemoryBudget, sizeBytes: number, isRestored: boolean): MemoryBudget {
  if (budget.admit(sizeBytes)) {
    budget.isGranted = isRestored;
    return budget;
  }
  throw new WavetrainError(
    'queue_full',
    `the server has no memory left for this run, which takes ${formatMebibytes(sizeBytes)}: ` +
      'try again later, send less, or raise SERVICE_MEMORY',
    { fault: 'service' },
  );
}

/** Returns true for a file that can only have been written piece by piece: it counts as disk, and not as memory. */
export function isLargeFile(bytes: number): boolean {
  return bytes > MAX_ARTIFACT_BYTES;
}
