import type { Clock } from '../common/clock.js';

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
