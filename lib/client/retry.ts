import type { Clock } from '../common/clock.js';
import { RequestError } from './errors.js';

const FIRST_MS = 250;
const LONGEST_MS = 8000;
/** Whoever is asked to come back later than that gives up. */
const LONGEST_ASKED_MS = 30_000;

/** Busy, or about to leave. */
const PASSING_STATUSES: readonly (number | undefined)[] = [429, 503];

/** How long to wait before another attempt; undefined when a further one would end no better. */
export function retryDelay(thrown: unknown, attempt: number): number | undefined {
  if (!isPassing(thrown)) return undefined;
  const { retryAfterMs = backoff(attempt) } = thrown;
  return retryAfterMs > LONGEST_ASKED_MS ? undefined : retryAfterMs;
}

/** @param attempt from 0 */
export function backoff(attempt: number): number {
  return Math.min(FIRST_MS * 2 ** attempt, LONGEST_MS);
}

function isPassing(thrown: unknown): thrown is RequestError {
  if (!(thrown instanceof RequestError)) return false;
  const isLost = thrown.code === 'server_unreachable' && thrown.status === undefined;
  return isLost || PASSING_STATUSES.includes(thrown.status);
}

/** Retry-After as milliseconds: it is in seconds, or a date. */
export function readRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Waits. Rejects with the reason of the signal as soon as it is given. */
export async function pause(delayMs: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const over = (): void => {
      clock.clearTimeout(timer);
      signal?.removeEventListener('abort', over);
      resolve();
    };
    const timer = clock.setTimeout(over, delayMs);
    signal?.addEventListener('abort', over);
  });
  signal?.throwIfAborted();
}
