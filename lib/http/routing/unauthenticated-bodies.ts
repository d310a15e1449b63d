import { UNKNOWN_TENANT } from '../../common/scheduling/event-loop-scheduler.js';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../common/clock.js';
import { WavetrainError } from '../../common/errors.js';
import { UNPROVED_LIMITS } from '../../common/limits.js';
import type { MemoryPool } from '../../common/memory/memory-pool.js';
import { formatMebibytes } from '../../common/text.js';
import { BodyMemory, TenantPayer } from './body-memory.js';
import type { BodyProof } from './route.js';

const { partOfMemory, receiveMs } = UNPROVED_LIMITS;

/**
 * The memory of all bodies whose caller is not known before they have arrived (D71): a small part of SERVICE_MEMORY, of what
 * has arrived and not of what was declared. When it is used up, the oldest body is refused: whoever sends an honest one is
 * done with it soon, so that nobody takes the place of others by sending slowly.
 */
export class UnauthenticatedBodies {
  readonly memory: MemoryPool;
  readonly clock: Clock;
  readonly limitBytes: number;
  /** The bodies that take memory and have not arrived completely, the oldest first. */
  readonly #arriving = new Set<UnauthenticatedBody>();
  #usedBytes = 0;

  constructor(memory: MemoryPool, clock: Clock) {
    this.memory = memory;
    this.clock = clock;
    this.limitBytes = Math.floor(memory.totalBytes / partOfMemory);
  }

  /** @throws WavetrainError `memory_full` when there is none to refuse before this one */
  reserve(body: UnauthenticatedBody, bytes: number): void {
    this.#arriving.add(body);
    for (const oldest of this.#arriving) {
      if (this.#usedBytes + bytes <= this.limitBytes || oldest === body) break;
      oldest.refuse(this.#fullError());
    }
    const isFree = this.#usedBytes + bytes <= this.limitBytes;
    if (!isFree || !this.memory.tryReserve(UNKNOWN_TENANT, bytes)) throw this.#fullError();
    this.#usedBytes += bytes;
  }

  release(bytes: number): void {
    this.#usedBytes -= bytes;
    this.memory.release(UNKNOWN_TENANT, bytes);
  }

  /** Call when a body arrives no more. */
  leave(body: UnauthenticatedBody): void {
    this.#arriving.delete(body);
  }

  #fullError(): WavetrainError {
    return new WavetrainError(
      'memory_full',
      'no memory is left for the body: those of all callers who are not known yet may take ' +
        `${formatMebibytes(this.limitBytes)} together; try again`,
      { fault: 'service' },
    );
  }
}

/** The memory of a body that must prove who pays for it. */
export class UnauthenticatedBody extends BodyMemory {
  readonly #bodies: UnauthenticatedBodies;
  readonly #proof: BodyProof;
  readonly #refusal = new AbortController();

  constructor(bodies: UnauthenticatedBodies, proof: BodyProof) {
    super({
      tenantId: UNKNOWN_TENANT,
      limitBytes: bodies.limitBytes,
      limitName: 'the part of SERVICE_MEMORY for callers who are not known yet',
      reserve: (bytes) => bodies.reserve(this, bytes),
      release: (bytes) => bodies.release(bytes),
    });
    this.#bodies = bodies;
    this.#proof = proof;
  }

  /**
   * Receives the body and lets it prove who pays for it from then on, before it is parsed. Rejects as `read` and the proof do,
   * with `memory_full` and `body_too_large`, and with `request_timeout` when it does not arrive in time.
   */
  override async receive(request: IncomingMessage, read: () => Promise<string>): Promise<string> {
    const { memory, clock } = this.#bodies;
    const timer = clock.setTimeout(() => this.refuse(timeoutError()), receiveMs);
    let text: string;
    let tenantId: string;
    try {
      text = await this.receiveInParts(request, read, this.#refusal.signal);
      tenantId = this.#proof.check(text);
    } catch (error) {
      this.#proof.fail(this.length);
      throw error;
    } finally {
      clock.clearTimeout(timer);
      this.#bodies.leave(this);
    }
    this.moveTo(new TenantPayer(memory, tenantId));
    return text;
  }

  /** Lets `receive` reject with an error, and gives the memory back at once. */
  refuse(error: WavetrainError): void {
    this.#bodies.leave(this);
    this.#refusal.abort(error);
    this.release();
  }
}

function timeoutError(): WavetrainError {
  return new WavetrainError(
    'request_timeout',
    `the body did not arrive within ${receiveMs / 1000} s, the time for callers who are not known yet`,
  );
}
