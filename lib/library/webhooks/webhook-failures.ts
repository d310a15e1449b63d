import type { Clock } from '../../common/clock.js';
import { WavetrainError } from '../../common/errors.js';
import { UNPROVED_LIMITS } from '../../common/limits.js';

const { failedBytes, failedHeadBytes, failedWindowMs, addresses } = UNPROVED_LIMITS;

/** Stands for all addresses beyond those that are counted one by one. */
const OTHERS = '';

/**
 * Counts the bytes of requests to webhooks that were not accepted (D71), by the address that they came from. Bytes and
 * not requests count: a small request costs no more than any other one without a key, and all senders behind a proxy
 * have its address, so that a stranger among them would lock out the others with a few.
 */
export class WebhookFailures {
  readonly #clock: Clock;
  /** By address, the bytes of the current window. */
  readonly #bytes = new Map<string, number>();
  #windowEndsAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param bytes of the body that have arrived */
  add(address: string, bytes: number): void {
    this.#forgetOld();
    const key = this.#keyOf(address);
    this.#bytes.set(key, (this.#bytes.get(key) ?? 0) + failedHeadBytes + bytes);
  }

  /** @throws WavetrainError `too_many_failures` */
  assertFew(address: string): void {
    this.#forgetOld();
    if ((this.#bytes.get(this.#keyOf(address)) ?? 0) < failedBytes) return;
    throw new WavetrainError(
      'too_many_failures',
      'the requests of this address to webhooks that were not accepted have sent too much: try again in a minute',
    );
  }

  #keyOf(address: string): string {
    return this.#bytes.has(address) || this.#bytes.size < addresses ? address : OTHERS;
  }

  #forgetOld(): void {
    const now = this.#clock.monotonicNow();
    if (now < this.#windowEndsAt) return;
    this.#bytes.clear();
    this.#windowEndsAt = now + failedWindowMs;
  }
}
