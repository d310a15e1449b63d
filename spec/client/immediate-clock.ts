import type { Clock } from '../../lib/common/clock.js';

/** Longer timers never fire: they are time limits. */
const MAX_DELAY_MS = 20_000;

/** A clock whose short timers fire at once. Records their delays. */
export class ImmediateClock implements Clock {
  readonly waits: number[] = [];

  now(): number {
    return 0;
  }

  monotonicNow(): number {
    return 0;
  }

  setTimeout(run: () => void, delayMs: number): unknown {
    if (delayMs > MAX_DELAY_MS) return undefined;
    this.waits.push(delayMs);
    return setImmediate(run);
  }

  clearTimeout(timer: unknown): void {
    if (timer !== undefined) clearImmediate(timer as NodeJS.Immediate);
  }
}
