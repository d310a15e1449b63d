import type { Clock } from '../../lib/common/clock.js';

class Timer {
  waiting = true;
  constructor(
    readonly dueMs: number,
    readonly run: () => void,
  ) {}
}

/** A clock that a spec advances. Its wall clock can step on its own, as when the time of a machine is set. */
export class ManualClock implements Clock {
  /** Sorted by time, then by creation. Cleared timers stay until their time. */
  readonly #queue: Timer[] = [];
  readonly #startMs: number;
  /** Time that has passed since the start. */
  #elapsedMs = 0;
  /** Sum of the steps of the wall clock. */
  #stepMs = 0;
  #pending = 0;

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#startMs = startMs;
  }

  /** The number of timers that have neither fired nor been cleared. */
  get pending(): number {
    return this.#pending;
  }

  now(): number {
    return this.#startMs + this.#elapsedMs + this.#stepMs;
  }

  monotonicNow(): number {
    return this.#elapsedMs;
  }

  /** Sets the wall clock forwards, or back when negative. No time passes, and no timer fires. */
  stepWall(ms: number): void {
    this.#stepMs += ms;
  }

  setTimeout(run: () => void, delayMs: number): unknown {
    const timer = new Timer(this.#elapsedMs + Math.max(0, delayMs), run);
    this.#queue.splice(this.#findIndex(timer.dueMs), 0, timer);
    this.#pending += 1;
    return timer;
  }

  clearTimeout(timer: unknown): void {
    if (timer instanceof Timer) this.#settle(timer);
  }

  /**
   * Advances the time by `ms` and fires all due timers in the order of their times, then of their creation. While a
   * timer runs, the time is its time; a timer that it sets fires too if it is due.
   */
  advance(ms: number): void {
    const endMs = this.#elapsedMs + ms;
    for (let next = this.#queue[0]; next !== undefined && next.dueMs <= endMs; next = this.#queue[0]) {
      this.#queue.shift();
      if (!this.#settle(next)) continue;
      this.#elapsedMs = next.dueMs;
      next.run();
    }
    this.#elapsedMs = endMs;
  }

  /** Returns false when the timer has already fired or been cleared. */
  #settle(timer: Timer): boolean {
    if (!timer.waiting) return false;
    timer.waiting = false;
    this.#pending -= 1;
    return true;
  }

  /** Finds the index after all timers that are due at the same time or earlier. */
  #findIndex(dueMs: number): number {
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
