/** When a failed attempt is repeated (D18). */
export interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
  /** Fraction by which a delay varies, 0 to 1. */
  readonly jitter: number;
}

/** Beyond any ceiling, and still a number: infinity times a base of 0 is none. */
const MOST_DOUBLINGS = 1000;

/**
 * The delay before retry `retry` (from 1): doubling from the base, capped, varied by the jitter, capped again.
 *
 * @param random a number from 0 to 1, drawn by the caller
 */
export function retryDelayMs(retry: number, { baseMs, maxMs, jitter }: Backoff, random: number): number {
  const doubled = Math.min(maxMs, baseMs * 2 ** Math.min(retry - 1, MOST_DOUBLINGS));
  const factor = 1 + jitter * (2 * random - 1);
  return Math.min(maxMs, doubled * factor);
}
