import type { Clock } from '../../lib/common/clock.js';

/** Waits that are longer than this are for what never comes. */
const LONGEST_MS = 20_000;

/** A clock for which short waits are over at once; what it was asked to wait is kept. */
export class HastyClock implements Clock {
  readonly waits: number[] = [];

  now(): number {
    return 0;
  }

  setTimeout(run: () => void, delayMs: number): unknown {
    if (delayMs > LONGEST_MS) return undefined;
    this.waits.push(delayMs);
    return setImmediate(run);
  }

  clearTimeout(timer: unknown): void {
    if (timer !== undefined) clearImmediate(timer as NodeJS.Immediate);
  }
}
