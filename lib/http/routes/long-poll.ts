import type { HttpServices } from '../services.js';

/** Time from an event to the check for a change: events come in bursts, and some changes follow their event. */
export const DEBOUNCE_MS = 20;

/** Interval of checks for changes without an event, such as the start of further items of a fan-out. */
export const RECHECK_MS = 1000;

/**
 * Waits until a run has settled or `hasChanged` returns true; at most `timeoutMs`, and only while the client is
 * connected.
 *
 * @param hasChanged whether the record differs from the version that the client has; undefined to wait only for the
 * run to settle
 */
export async function longPoll(
  { registry, clock }: Pick<HttpServices, 'registry' | 'clock'>,
  runId: string,
  hasChanged: (() => boolean) | undefined,
  timeoutMs: number,
  disconnected: AbortSignal,
): Promise<void> {
  const log = registry.events(runId);
  // The log comes first: a deleted run has a closed log, but no version to compare.
  const isDone = (): boolean => log.isClosed || hasChanged?.() === true;
  if (isDone() || disconnected.aborted) return;
  await new Promise<void>((resolve) => {
    let nextCheck: unknown;
    let isDebouncing = false;
    const checkAfter = (delayMs: number): void => {
      clock.clearTimeout(nextCheck);
      isDebouncing = delayMs === DEBOUNCE_MS;
      nextCheck = clock.setTimeout(() => (isDone() ? stop() : checkAfter(RECHECK_MS)), delayMs);
    };
    const stop = (): void => {
      clock.clearTimeout(timeout);
      clock.clearTimeout(nextCheck);
      unsubscribe();
      disconnected.removeEventListener('abort', stop);
      resolve();
    };
    const timeout = clock.setTimeout(stop, timeoutMs);
    const unsubscribe = log.subscribe(() => {
      if (log.isClosed) stop();
      else if (hasChanged !== undefined && !isDebouncing) checkAfter(DEBOUNCE_MS);
    });
    if (hasChanged !== undefined) checkAfter(RECHECK_MS);
    disconnected.addEventListener('abort', stop);
  });
}
