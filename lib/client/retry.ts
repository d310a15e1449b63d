import type { Clock } from '../common/clock.js';
import { RequestError } from './errors.js';

const INITIAL_DELAY_MS = 250;
const MAX_DELAY_MS = 8000;
/** A longer Retry-After ends the retries. */
const MAX_RETRY_AFTER_MS = 30_000;

/** The server is overloaded or shutting down. */
const RETRYABLE_STATUSES: readonly (number | undefined)[] = [429, 503];

/**
 * Returns the delay before the next attempt: what the server asks for, else exponential backoff. Undefined when a retry
 * would fail too.
 *
 * @param attempt number of the failed attempt, from 0
 */
export function retryDelay(error: unknown, attempt: number): number | undefined {
  if (!isRetryable(error)) return undefined;
  const { retryAfterMs = Math.min(INITIAL_DELAY_MS * 2 ** attempt, MAX_DELAY_MS) } = error;
  return retryAfterMs > MAX_RETRY_AFTER_MS ? undefined : retryAfterMs;
}

function isRetryable(error: unknown): error is RequestError {
  if (!(error instanceof RequestError)) return false;
  const isConnectionError = error.code === 'server_unreachable' && error.status === undefined;
  return isConnectionError || RETRYABLE_STATUSES.includes(error.status);
}

/** Converts a Retry-After header, seconds or a date, to milliseconds. */
export function parseRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Resolves after a delay. Rejects with the reason of the signal as soon as it is aborted. */
export async function abortableDelay(
  delayMs: number,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      clock.clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = clock.setTimeout(finish, delayMs);
    signal?.addEventListener('abort', finish);
  });
  signal?.throwIfAborted();
}
