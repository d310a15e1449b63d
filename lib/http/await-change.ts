import type { HttpServices } from './services.js';

/**
 * Waits until a run has settled or, when the caller knows a version of it, until it differs from that one; at most
 * `timeoutMs`, and no longer than the caller does.
 */
export async function awaitChange(
  { registry, clock }: Pick<HttpServices, 'registry' | 'clock'>,
  runId: string,
  known: string | undefined,
  timeoutMs: number,
  gone: AbortSignal,
): Promise<void> {
  const log = registry.events(runId);
  const isOver = (): boolean =>
    log.isClosed || (known !== undefined && !known.includes(`"${registry.version(runId)}"`));
  if (isOver() || gone.aborted) return;
  await new Promise<void>((resolve) => {
    const stop = (): void => {
      clock.clearTimeout(timer);
      unwatch();
      gone.removeEventListener('abort', stop);
      resolve();
    };
    const timer = clock.setTimeout(stop, timeoutMs);
    const unwatch = log.watch(() => {
      if (isOver()) stop();
    });
    gone.addEventListener('abort', stop);
  });
}
