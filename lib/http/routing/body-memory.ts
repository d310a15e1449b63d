import type { IncomingMessage } from 'node:http';
import { WavetrainError } from '../../common/errors.js';
import { MEMBER_BYTES, OBJECT_BYTES } from '../../common/json.js';
import type { MemoryPool } from '../../common/queues/memory-pool.js';
import { formatMebibytes } from '../../common/text.js';
import type { JsonMeasure } from '../../definition/text/json-loss.js';
import { receiveWith } from './received-bytes.js';

/** Memory that a body takes for each of its bytes while it arrives: as bytes, as text, and as values. */
const RECEIVED_FACTOR = 3;

/** The beginning of a body takes no more than its headers may: a tenant that has used up its memory can cancel runs. */
const UNCOUNTED_LENGTH = 1024;

/** Memory that the texts and numbers in it take for each of its bytes; lists and objects take more. */
const PARSED_FACTOR = 2;

/** The memory of one request body, from its first byte until the request was handled. It counts for a tenant (D25). */
export class BodyMemory {
  readonly #memory: MemoryPool;
  readonly #tenantId: string;
  #length = 0;
  #valueBytes = 0;
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
    const body = await (isChunked
      ? receiveWith(request, ({ length }) => this.#reserve(length), read)
      : read());
    this.#releaseTo(PARSED_FACTOR * this.#countedLength + this.#valueBytes);
    return body;
  }

  /**
   * Reserves the memory of the lists and objects in the body. Call before they are made.
   *
   * @throws WavetrainError `memory_full` or `body_too_large`
   */
  reserveValues({ containers, members }: Pick<JsonMeasure, 'containers' | 'members'>): void {
    if (this.#countedLength === 0) return;
    this.#valueBytes = OBJECT_BYTES * containers + MEMBER_BYTES * members;
    this.#reserveTo(
      this.#reserved + this.#valueBytes,
      `the values in the body take ${formatMebibytes(this.#valueBytes)}`,
    );
  }

  /** Call when the request was handled, or its body counts as part of a run. May be called again. */
  release(): void {
    this.#releaseTo(0);
  }

  get #countedLength(): number {
    return Math.max(0, this.#length - UNCOUNTED_LENGTH);
  }

  #reserve(length: number): void {
    this.#length += length;
    this.#reserveTo(
      RECEIVED_FACTOR * this.#countedLength,
      `the body takes ${RECEIVED_FACTOR} times its length while it arrives`,
    );
  }

  /**
   * @param reason why so much is needed, as the start of a sentence
   * @throws WavetrainError `memory_full`, or `body_too_large` when waiting for memory would not help
   */
  #reserveTo(needed: number, reason: string): void {
    const { totalBytes } = this.#memory;
    if (needed > totalBytes) {
      throw new WavetrainError(
        'body_too_large',
        `${reason}, and that is more than SERVICE_MEMORY (${formatMebibytes(totalBytes)}): send less`,
      );
    }
    if (needed === this.#reserved) return;
    this.#memory.reserve(this.#tenantId, needed - this.#reserved, 'body');
    this.#reserved = needed;
  }

  #releaseTo(size: number): void {
    if (this.#reserved <= size) return;
    this.#memory.release(this.#tenantId, this.#reserved - size);
    this.#reserved = size;
  }
}
