import type { Clock } from '../clock.js';
import type { ToolError } from '../errors.js';
import { FairQueue } from './fair-queue.js';
import { type Limit, SharedLimit } from '../memory/shared-limit.js';
import { runInSlices, stoppedError, type WorkingAttempt } from './run-in-slices.js';
import type { Steps } from './steps.js';

/** The attempt of a task that a limiter may hold up, such as the context of a tool. */
export interface LimitedAttempt extends WorkingAttempt {
  /** Stops the time limit of the attempt; the returned function lets it go on. */
  readonly pauseTimeout: () => () => void;
}

type CreateStopError = (signal: AbortSignal) => ToolError;

/**
 * Attempts that wait for a limiter, in a queue that is fair to tenants (D25). The timeout of an attempt pauses while it
 * waits, and its signal ends the wait.
 */
class AttemptQueue {
  readonly #waiting = new FairQueue<() => void>();
  readonly #createStopError: CreateStopError;

  constructor(createStopError: CreateStopError) {
    this.#createStopError = createStopError;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves when {@link resumeNext} has chosen the attempt. Rejects when its signal aborts.
   *
   * @param onQueued called as soon as the attempt is in the queue
   * @param onLeft called when its signal has ended the wait
   */
  async wait(
    { tenant_id: tenantId, signal, pauseTimeout }: LimitedAttempt,
    onQueued: () => void,
    onLeft?: () => void,
  ): Promise<void> {
    if (signal.aborted) throw this.#createStopError(signal);
    const resumeTimeout = pauseTimeout();
    let leave: (() => void) | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        leave = () => {
          if (!this.#waiting.delete(tenantId, resolve)) return;
          onLeft?.();
          reject(this.#createStopError(signal));
        };
        signal.addEventListener('abort', leave);
        this.#waiting.add(tenantId, resolve);
        onQueued();
      });
    } finally {
      if (leave !== undefined) signal.removeEventListener('abort', leave);
      resumeTimeout();
    }
  }

  /** Resumes the next attempt of a tenant that is accepted. Returns false when there is none. */
  resumeNext(accepts?: (tenantId: string) => boolean): boolean {
    const resume = this.#waiting.next(accepts);
    resume?.();
    return resume !== undefined;
  }
}

/** Lets a number of attempts work at once, so that what they hold is bounded. The others wait, fairly between tenants. */
export class ConcurrencyLimiter {
  readonly #atWork: SharedLimit;
  readonly #queue: AttemptQueue;

  /** @param createStopError of an attempt that ends while it waits */
  constructor(limit: Limit, createStopError: CreateStopError = stoppedError) {
    this.#atWork = new SharedLimit(limit);
    this.#queue = new AttemptQueue(createStopError);
  }

  /** Does the work as soon as there is room. Rejects with what it rejects with, or when the signal aborts the wait. */
  async run<T>(attempt: LimitedAttempt, work: () => Promise<T>): Promise<T> {
    const { tenant_id: tenantId } = attempt;
    const isFree = this.#queue.size === 0 && this.#atWork.tryAcquire(tenantId);
    if (!isFree) await this.#queue.wait(attempt, () => this.#admit());
    try {
      return await work();
    } finally {
      this.#atWork.release(tenantId);
      this.#admit();
    }
  }

  #admit(): void {
    while (this.#queue.resumeNext((tenantId) => this.#atWork.tryAcquire(tenantId)));
  }
}

/** Lets attempts go on no faster than a server allows, all runs of the process together. */
export class RateLimiter {
  readonly #intervalMs: number;
  readonly #queue = new AttemptQueue(stoppedError);
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

/** Of all tools. */
const longWork = new ConcurrencyLimiter({ total: 1, guaranteed: 1 });

/**
 * Does long work of an attempt in slices of the event loop. One attempt works at once, and one of each other tenant that
 * has none at work, up to two in all; the others wait. So however many tools have long work, what the work makes in between
 * is not there a thousand times.
 *
 * Rejects with what the work throws, or when the signal aborts.
 */
export function runLongWork<T>(attempt: LimitedAttempt, work: () => Steps<T>): Promise<T> {
  return longWork.run(attempt, () => runInSlices(work(), attempt));
}

/**
 * Maps a list with at most `atOnce` calls at work. Rejects with the first failure, after which it starts no further call.
 *
 * @returns the results in the order of the list
 */
export async function mapSome<T, R>(
  items: readonly T[],
  atOnce: number,
  map: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  let hasFailed = false;
  const work = async (): Promise<void> => {
    for (const [position, item] of entries) {
      if (hasFailed) return;
      try {
        results[position] = await map(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return results;
}
