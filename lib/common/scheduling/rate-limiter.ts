import type { Clock } from '../clock.js';
import { AttemptQueue, type LimitedAttempt } from './attempt-queue.js';

/** Lets attempts go on no faster than a server allows, all runs of the process together. */
export class RateLimiter {
  readonly #intervalMs: number;
  readonly #queue = new AttemptQueue();
  /** Monotonic time before which none may go on. */
  #nextMs = Number.NEGATIVE_INFINITY;
  /** Stops the timer of the next attempt; undefined when there is none. */
  #stopTimer: (() => void) | undefined;

  /** @param perSecond the largest number of attempts that go on in any second */
  constructor(perSecond: number) {
    this.#intervalMs = 1000 / perSecond;
  }

  /** Resolves when the attempt may go on. Rejects with a ToolError when it ends before. */
  async wait(attempt: LimitedAttempt & { readonly clock: Clock }): Promise<void> {
    const { clock } = attempt;
    const nowMs = clock.monotonicNow();
    const isFree = this.#queue.size === 0 && nowMs >= this.#nextMs && !attempt.signal.aborted;
    if (isFree) this.#nextMs = nowMs + this.#intervalMs;
    else
      await this.#queue.wait(
        attempt,
        () => this.#schedule(clock),
        () => this.#stopWithoutAttempts(),
      );
  }

  #schedule(clock: Clock): void {
    if (this.#stopTimer !== undefined) return;
    const timer = clock.setTimeout(() => {
      this.#stopTimer = undefined;
      if (!this.#queue.resumeNext()) return;
      this.#nextMs = clock.monotonicNow() + this.#intervalMs;
      if (this.#queue.size > 0) this.#schedule(clock);
    }, this.#nextMs - clock.monotonicNow());
    this.#stopTimer = () => {
      clock.clearTimeout(timer);
      this.#stopTimer = undefined;
    };
  }

  /** A timer for nobody would keep a command alive. */
  #stopWithoutAttempts(): void {
    if (this.#queue.size === 0) this.#stopTimer?.();
  }
}

/** Bounds how much is counted at once and in the long run: what is counted fills a bucket, which leaks at a steady rate. */
export class LeakyBucket {
  readonly #clock: Pick<Clock, 'monotonicNow'>;
  readonly #capacity: number;
  readonly #perMs: number;
  #level = 0;
  #atMs = Number.NEGATIVE_INFINITY;

  /**
   * @param capacity what it holds
   * @param perSecond what leaks out of it in a second
   */
  constructor(clock: Pick<Clock, 'monotonicNow'>, capacity: number, perSecond: number) {
    this.#clock = clock;
    this.#capacity = capacity;
    this.#perMs = perSecond / 1000;
  }

  /** Counts an amount. Returns false, and counts nothing, when the bucket has no room for it. */
  add(amount: number): boolean {
    const nowMs = this.#clock.monotonicNow();
    this.#level = Math.max(0, this.#level - (nowMs - this.#atMs) * this.#perMs);
    this.#atMs = nowMs;
    if (this.#level + amount > this.#capacity) return false;
    this.#level += amount;
    return true;
  }

  /** Takes back what was counted. */
  remove(amount: number): void {
    this.#level = Math.max(0, this.#level - amount);
  }
}
