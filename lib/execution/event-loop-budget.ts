import { performance } from 'node:perf_hooks';
import type { EventLoopBudget } from '../../machines/ports.js';

/** How long all runs together may hold the event loop in one tick. */
const SLICE_MS = 8;

/**
 * Decides when runs yield the event loop. Runs start tasks and items in slices, so that timers, requests and signals
 * are served in between, however wide a wave is.
 */
class ProcessEventLoopBudget implements EventLoopBudget {
  #sliceStartMs = 0;
  #inSlice = false;
  #queue: (() => void)[] = [];

  exhausted(): boolean {
    if (!this.#inSlice) this.#startSlice();
    return performance.now() - this.#sliceStartMs > SLICE_MS;
  }

  defer(next: () => void): void {
    this.#queue.push(next);
    if (this.#queue.length === 1) setImmediate(() => this.#flush());
  }

  #startSlice(): void {
    this.#inSlice = true;
    this.#sliceStartMs = performance.now();
    setImmediate(() => {
      this.#inSlice = false;
    });
  }

  #flush(): void {
    this.#inSlice = false;
    const queue = this.#queue;
    this.#queue = [];
    for (const [position, next] of queue.entries()) {
      if (position > 0 && this.exhausted()) {
        this.#queue = queue.slice(position).concat(this.#queue);
        setImmediate(() => this.#flush());
        return;
      }
      next();
    }
  }
}

/** The budget of this process; runs share it, because they share its event loop. */
export const eventLoopBudget: EventLoopBudget = new ProcessEventLoopBudget();

/** Runs `work` at once, or in a later tick when the current slice is used up. */
export function runInBudget<T>(work: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const runNow = (): void => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    };
    if (eventLoopBudget.exhausted()) eventLoopBudget.defer(runNow);
    else runNow();
  });
}
