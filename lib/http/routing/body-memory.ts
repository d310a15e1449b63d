import type { IncomingMessage } from 'node:http';
import { WavetrainError } from '../../common/errors.js';
import { MEMBER_BYTES, OBJECT_BYTES } from '../../common/json/json.js';
import type { MemoryPool } from '../../common/memory/memory-pool.js';
import type { ConcurrencyLimiter, Release } from '../../common/scheduling/concurrency-limiter.js';
import { formatMebibytes } from '../../common/text.js';
import type { JsonMeasure } from '../../definition/text/lossy-json.js';
import { receiveWith } from './received-bytes.js';

/** Memory that a body takes for each of its bytes while it arrives: as bytes, as text, and as values. */
const RECEIVED_FACTOR = 3;

/** The beginning of a body takes no more than its headers may: a tenant that has used up its memory can cancel runs. */
const UNCOUNTED_LENGTH = 1024;

/** Memory that the texts and numbers in it take for each of its bytes; lists and objects take more. */
const PARSED_FACTOR = 2;

/** Pays for the memory of a body. */
export interface BodyPayer {
  readonly tenantId: string;
  /** The most that one body may take, in bytes. */
  readonly limitBytes: number;
  /** The name of that limit in messages. */
  readonly limitName: string;
  /** @throws WavetrainError `memory_full` */
  reserve(bytes: number): void;
  release(bytes: number): void;
}

/** A tenant, whose memory is shared with its runs and responses (D25). */
export class TenantPayer implements BodyPayer {
  readonly limitName = 'SERVICE_MEMORY';
  readonly tenantId: string;
  readonly #memory: MemoryPool;

  constructor(memory: MemoryPool, tenantId: string) {
    this.#memory = memory;
    this.tenantId = tenantId;
  }

  get limitBytes(): number {
    return this.#memory.totalBytes;
  }

  reserve(bytes: number): void {
    this.#memory.reserve(this.tenantId, bytes, 'body');
  }

  release(bytes: number): void {
    this.#memory.release(this.tenantId, bytes);
  }
}

/** The memory of one request body, from its first byte until the request was handled. */
export class BodyMemory {
  #payer: BodyPayer;
  #length = 0;
  #valueBytes = 0;
  #reserved = 0;
  #endTurn: Release | undefined;

  constructor(payer: BodyPayer) {
    this.#payer = payer;
  }

  get tenantId(): string {
    return this.#payer.tenantId;
  }

  /** The bytes of the body: those that are declared, or else those that have arrived. */
  get length(): number {
    return this.#length;
  }

  /**
   * Calls `read`, and reserves the memory that the body takes: before, when the request declares its length, and while
   * it arrives otherwise. Rejects as `read` does, and with `memory_full` or `body_too_large`.
   */
  async receive(request: IncomingMessage, read: () => Promise<string>): Promise<string> {
    if (request.headers['transfer-encoding'] !== undefined) return this.receiveInParts(request, read);
    this.#reserve(Number(request.headers['content-length'] ?? 0));
    const text = await read();
    this.#releaseTo(PARSED_FACTOR * this.#countedLength);
    return text;
  }

  /** Reserves memory while the body arrives, even when the request declares its length. Rejects with the reason of the signal, too, when that is aborted. */
  async receiveInParts(
    request: IncomingMessage,
    read: () => Promise<string>,
    signal?: AbortSignal,
  ): Promise<string> {
    const text = await receiveWith(request, ({ length }) => this.#reserve(length), read, signal);
    this.#releaseTo(PARSED_FACTOR * this.#countedLength);
    return text;
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

  /** Lets another one pay from now on. @throws WavetrainError `memory_full` */
  moveTo(payer: BodyPayer): void {
    payer.reserve(this.#reserved);
    this.#payer.release(this.#reserved);
    this.#payer = payer;
  }

  /** Resolves when its work may begin: what it makes in passing takes several times the memory of the body. */
  async takeTurn(turns: ConcurrencyLimiter): Promise<void> {
    this.#endTurn = await turns.acquire({ tenant_id: this.tenantId });
  }

  /** Lets the next body have its turn. Call before a wait for anything but the work of this one. May be called again. */
  endTurn(): void {
    this.#endTurn?.();
  }

  /** Call when the request was handled, or its body counts as part of a run. May be called again. */
  release(): void {
    this.endTurn();
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
    const { limitBytes, limitName } = this.#payer;
    if (needed > limitBytes) {
      throw new WavetrainError(
        'body_too_large',
        `${reason}, and that is more than ${limitName} (${formatMebibytes(limitBytes)}): send less`,
      );
    }
    if (needed === this.#reserved) return;
    this.#payer.reserve(needed - this.#reserved);
    this.#reserved = needed;
  }

  #releaseTo(size: number): void {
    if (this.#reserved <= size) return;
    this.#payer.release(this.#reserved - size);
    this.#reserved = size;
  }
}
