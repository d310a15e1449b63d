import type { IncomingMessage } from 'node:http';
import { WavetrainError } from '../../common/errors.js';
import type { MemoryPool } from '../../common/memory-pool.js';
import { formatMebibytes } from '../../common/text.js';

/** Memory that a body takes for each of its bytes while it arrives: as bytes, as text, and as values. */
const RECEIVED_FACTOR = 3;

/** Memory that its values take: 1 to 3 in usual bodies. */
const PARSED_FACTOR = 2;

/** The memory of one request body, from its first byte until the request was handled. It counts for a tenant (D25). */
export class BodyMemory {
  readonly #memory: MemoryPool;
  readonly #tenantId: string;
  #length = 0;
  #reserved = 0;

  constructor(memory: MemoryPool, tenantId: string) {
    this.#memory = memory;
    this.#tenantId = tenantId;
  }

  /**
   * Calls `read`, and reserves the memory that the body takes: before, when the request declares its length, and while
   * it arrives otherwise. Rejects as `read` does, and with `memory_full` or `body_too_large`.
   */
  async receive<T>(request: IncomingMessage, limitBytes: number, read: () => Promise<T>): Promise<T> {
    const declared = Number(request.headers['content-length'] ?? 0);
    // A longer one is refused before it arrives.
    if (declared > 0 && declared <= limitBytes) this.#reserve(declared);
    const isChunked = request.headers['transfer-encoding'] !== undefined;
    const body = await (isChunked ? this.#receiveChunks(request, read) : read());
    this.#releaseTo(PARSED_FACTOR * this.#length);
    return body;
  }

  /** Call when the request was handled, or its body counts as part of a run. May be called again. */
  release(): void {
    this.#releaseTo(0);
  }

  async #receiveChunks<T>(request: IncomingMessage, read: () => Promise<T>): Promise<T> {
    let onChunk: (chunk: Buffer) => void = () => undefined;
    const refused = new Promise<never>((_, reject) => {
      onChunk = ({ length }) => {
        try {
          this.#reserve(length);
        } catch (error) {
          reject(error);
        }
      };
    });
    request.on('data', onChunk);
    try {
      return await Promise.race([read(), refused]);
    } finally {
      request.off('data', onChunk);
    }
  }

  /** @throws WavetrainError `memory_full`, or `body_too_large` when waiting for memory would not help */
  #reserve(length: number): void {
    const size = RECEIVED_FACTOR * length;
    const { totalBytes } = this.#memory;
    if (this.#reserved + size > totalBytes) {
      throw new WavetrainError(
        'body_too_large',
        `the body takes ${RECEIVED_FACTOR} times its length while it arrives, and that is more than SERVICE_MEMORY ` +
          `(${formatMebibytes(totalBytes)}): send less`,
      );
    }
    this.#memory.reserve(this.#tenantId, size, 'body');
    this.#length += length;
    this.#reserved += size;
  }

  #releaseTo(size: number): void {
    if (this.#reserved <= size) return;
    this.#memory.release(this.#tenantId, this.#reserved - size);
    this.#reserved = size;
  }
}
