import type { Clock } from '../common/clock.js';
import type { Entry } from './entry.js';

/** Cancels the runs that wait, and gives those at work `graceMs` to settle; then their tools are told to stop. */
export async function settleWithin(
  graceMs: number,
  { waiting, running }: { readonly waiting: readonly Entry[]; readonly running: readonly Entry[] },
  clock: Clock,
): Promise<void> {
  for (const { run } of waiting) run.cancel(false);
  const timer = clock.setTimeout(() => {
    for (const { run } of running) run.cancel(true);
  }, graceMs);
  await Promise.all(running.map(({ run }) => run.settled));
  clock.clearTimeout(timer);
}
