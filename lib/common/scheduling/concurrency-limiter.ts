import { type Limit, SharedLimit } from '../memory/shared-limit.js';
import { AttemptQueue, type CreateStopError, type LimitedWork } from './attempt-queue.js';

/** Ends what a limiter has let begin. May be called again. */
export type Release = () => void;

/** Lets a number of works go on at once, so that what they hold is bounded. The others wait, fairly between tenants (D25). */
export class ConcurrencyLimiter {
  readonly #atWork: SharedLimit;
  readonly #queue: AttemptQueue;

  /** @param createStopError of an attempt that ends while it waits */
  constructor(limit: Limit, createStopError?: CreateStopError) {
    this.#atWork = new SharedLimit(limit);
    this.#queue = new AttemptQueue(createStopError);
  }

  get atWork(): number {
    return this.#atWork.used;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Resolves as soon as there is room, with the function that gives it back. Rejects when the signal aborts the wait. */
  async acquire(work: LimitedWork): Promise<Release> {
    const { tenant_id: tenantId } = work;
    const release = this.tryAcquire(tenantId);
    if (release !== undefined) return release;
    await this.#queue.wait(work);
    return this.#createRelease(tenantId);
  }

  /** Returns the function that gives the room back; undefined when there is none. */
  tryAcquire(tenantId: string): Release | undefined {
    // There is never room for those that wait, so nobody goes before them.
    return this.#atWork.tryAcquire(tenantId) ? this.#createRelease(tenantId) : undefined;
  }

  #createRelease(tenantId: string): Release {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#atWork.release(tenantId);
      // Perhaps several: a tenant that has nothing at work any more may have its guarantee beside the room that this leaves.
      while (this.#queue.resumeNext((waiting) => this.#atWork.tryAcquire(waiting)));
    };
  }

  /** Does the work as soon as there is room. Rejects with what it rejects with, or when the signal aborts the wait. */
  async run<T>(attempt: LimitedWork, work: () => Promise<T>): Promise<T> {
    const release = await this.acquire(attempt);
    try {
      return await work();
    } finally {
      release();
    }
  }
}

/**
 * Maps values with at most `atOnce` calls at work. Rejects with the first failure, after which it starts no further call.
 *
 * @returns the results in the order of the values
 */
export async function mapSome<T, R>(
  values: Iterable<T>,
  atOnce: number,
  map: (value: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const remaining = values[Symbol.iterator]();
  let started = 0;
  let hasFailed = false;
  const work = async (): Promise<void> => {
    for (let next = remaining.next(); !next.done && !hasFailed; next = remaining.next()) {
      const position = started++;
      try {
        results[position] = await map(next.value);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}

/** Work that several callers wait for together. It is aborted when all of them have gone. */
export class SharedWork {
  readonly #controller = new AbortController();
  readonly #done: Promise<void>;
  readonly #onAbandoned: () => void;
  #waiting = 0;

  /**
   * @param begin does the work until its signal aborts
   * @param onAbandoned is called when nobody waits any more: who comes later begins the work anew
   */
  constructor(begin: (signal: AbortSignal) => Promise<void>, onAbandoned: () => void) {
    this.#onAbandoned = onAbandoned;
    this.#done = begin(this.#controller.signal);
    // Everybody who waits for the work may have gone when it fails.
    this.#done.catch(() => undefined);
  }

  /** Resolves when the work is done, and rejects as it does. @param signal of a caller who may go before */
  async wait(signal?: AbortSignal): Promise<void> {
    const leave = (): void => {
      if (--this.#waiting > 0) return;
      this.#onAbandoned();
      this.#controller.abort(signal?.reason);
    };
    this.#waiting++;
    if (signal?.aborted === true) leave();
    signal?.addEventListener('abort', leave, { once: true });
    try {
      await this.#done;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }
}
