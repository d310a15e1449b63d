import { performance } from 'node:perf_hooks';
import type { Pace } from '../../machines/types.js';

/** How long runs may hold the event loop in one turn, all of them together. */
const TURN_MS = 8;

/**
 * The process's budget of time: many runs start tasks and items in slices, so timers, requests and signals are
 * served in between, however wide a wave is.
 */
class ProcessPace implements Pace {
  #turnBegan = 0;
  #inTurn = false;
  #queue: (() => void)[] = [];

  overdue(): boolean {
    if (!this.#inTurn) this.#beginTurn();
    return performance.now() - this.#turnBegan > TURN_MS;
  }

  later(next: () => void): void {
    this.#queue.push(next);
    if (this.#queue.length === 1) setImmediate(() => this.#flush());
  }

  #beginTurn(): void {
    this.#inTurn = true;
    this.#turnBegan = performance.now();
    setImmediate(() => {
      this.#inTurn = false;
    });
  }

  #flush(): void {
    this.#inTurn = false;
    const queue = this.#queue;
    this.#queue = [];
    for (const [position, next] of queue.entries()) {
      if (position > 0 && this.overdue()) {
        this.#queue = queue.slice(position).concat(this.#queue);
        setImmediate(() => this.#flush());
        return;
      }
      next();
    }
  }
}

export const processPace: Pace = new ProcessPace();

/** Does something at once, or in a later turn when the event loop has been held for long enough. */
export function inTurn<T>(work: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const doNow = (): void => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    };
    if (processPace.overdue()) processPace.later(doNow);
    else doNow();
  });
}
