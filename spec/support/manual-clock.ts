import type { Clock } from '../../lib/common/clock.js';

class Timer {
  waiting = true;
  constructor(
    readonly dueMs: number,
    readonly run: () => void,
  ) {}
}

/** A clock that stands still until it is turned by hand. */
export class ManualClock implements Clock {
  /** By moment, and by the order they were set within one moment. Cleared timers stay until their moment. */
  readonly #queue: Timer[] = [];
  #nowMs: number;
  #pending = 0;

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs;
  }

  /** Number of timers that have been set and have neither fired nor been cleared. */
  get pending(): number {
    return this.#pending;
  }

  now(): number {
    return this.#nowMs;
  }

  setTimeout(run: () => void, delayMs: number): unknown {
    const timer = new Timer(this.#nowMs + Math.max(0, delayMs), run);
    this.#queue.splice(this.#placeOf(timer.dueMs), 0, timer);
    this.#pending += 1;
    return timer;
  }

  clearTimeout(timer: unknown): void {
    if (timer instanceof Timer) this.#settle(timer);
  }

  /**
   * Moves time on by `ms` and fires what falls due, earliest first, timers of one moment in the order they were
   * set. Time stands at each timer's moment while it runs; a timer set meanwhile fires too when it falls due.
   */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (let next = this.#queue[0]; next !== undefined && next.dueMs <= endMs; next = this.#queue[0]) {
      this.#queue.shift();
      if (!this.#settle(next)) continue;
      this.#nowMs = next.dueMs;
      next.run();
    }
    this.#nowMs = endMs;
  }

  /** False when the timer had fired or been cleared before. */
  #settle(timer: Timer): boolean {
    if (!timer.waiting) return false;
    timer.waiting = false;
    this.#pending -= 1;
    return true;
  }

  /** Behind every timer that is due at the same moment or earlier. */
  #placeOf(dueMs: number): number {
    let low = 0;
    let high = this.#queue.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#queue[middle]?.dueMs ?? Infinity) <= dueMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
