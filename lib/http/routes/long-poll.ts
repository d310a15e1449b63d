import type { HttpServices } from '../services.js';

/** From an event to a look at what it has changed: much happens at once, and some of it after its event. */
export const LOOK_DELAY_MS = 20;

/** Not every change has an event: the next items of a fan-out begin without one. */
export const LOOK_ANYWAY_MS = 1000;

/**
 * Waits until a run has settled or, when the caller knows a version of its record, until that `isOld`; at most
 * `timeoutMs`, and no longer than the caller does.
 */
export async function awaitChange(
  { registry, clock }: Pick<HttpServices, 'registry' | 'clock'>,
  runId: string,
  isOld: (() => boolean) | undefined,
  timeoutMs: number,
  gone: AbortSignal,
): Promise<void> {
  const log = registry.events(runId);
  // A run that was forgotten has a closed log, and no version to ask for.
  const isOver = (): boolean => log.isClosed || isOld?.() === true;
  if (isOver() || gone.aborted) return;
  await new Promise<void>((resolve) => {
    let look: unknown;
    let isSoon = false;
    const lookAfter = (delayMs: number): void => {
      clock.clearTimeout(look);
      isSoon = delayMs === LOOK_DELAY_MS;
      look = clock.setTimeout(() => (isOver() ? stop() : lookAfter(LOOK_ANYWAY_MS)), delayMs);
    };
    const stop = (): void => {
      clock.clearTimeout(timer);
      clock.clearTimeout(look);
      unwatch();
      gone.removeEventListener('abort', stop);
      resolve();
    };
    const timer = clock.setTimeout(stop, timeoutMs);
    const unwatch = log.watch(() => {
      if (log.isClosed) stop();
      else if (isOld !== undefined && !isSoon) lookAfter(LOOK_DELAY_MS);
    });
    if (isOld !== undefined) lookAfter(LOOK_ANYWAY_MS);
    gone.addEventListener('abort', stop);
  });
}
