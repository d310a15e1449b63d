import { performance } from 'node:perf_hooks';
import type { EventLoopBudget } from '../../machines/ports.js';
import { FairQueue } from '../common/fair-queue.js';

/** How long all runs together may hold the event loop in one tick, and as long again all requests. */
const SLICE_MS = 8;

/** The tenant of work that belongs to no run. */
const SERVICE = '';

/**
 * Decides when runs yield the event loop. Runs start tasks and items in slices, so that timers, requests and signals
 * are served in between, however wide a wave is. Tenants whose work was deferred take turns (D25).
 */
class ProcessEventLoopBudget implements EventLoopBudget {
  #sliceStartMs = 0;
  #inSlice = false;
  #isScheduled = false;
  readonly #deferred = new FairQueue<() => void>();

  exhausted(): boolean {
    if (!this.#inSlice) this.#startSlice();
    return performance.now() - this.#sliceStartMs > SLICE_MS;
  }

  defer(next: () => void, tenantId = SERVICE): void {
    this.#deferred.add(tenantId, next);
    this.#schedule();
  }

  /** The same budget, for the runs of one tenant. */
  forTenant(tenantId: string): EventLoopBudget {
    return new TenantBudget(this, tenantId);
  }

  #startSlice(): void {
    this.#inSlice = true;
    this.#sliceStartMs = performance.now();
    setImmediate(() => {
      this.#inSlice = false;
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => void this.#continueDeferred());
  }

  async #continueDeferred(): Promise<void> {
    this.#startSlice();
    do {
      this.#deferred.next()?.();
      // What the callback has set off counts as well, such as the results of the items that it has started.
      await microtasksToSettle();
    } while (this.#deferred.size > 0 && !this.exhausted());
    this.#isScheduled = false;
    if (this.#deferred.size > 0) this.#schedule();
  }
}

/** The event-loop budget for the runs of one tenant. */
class TenantBudget implements EventLoopBudget {
  readonly #budget: ProcessEventLoopBudget;
  readonly #tenantId: string;

  constructor(budget: ProcessEventLoopBudget, tenantId: string) {
    this.#budget = budget;
    this.#tenantId = tenantId;
  }

  exhausted(): boolean {
    return this.#budget.exhausted();
  }

  defer(next: () => void): void {
    this.#budget.defer(next, this.#tenantId);
  }
}

function microtasksToSettle(): Promise<void> {
  // Node.js calls the functions of this queue when no microtask is left.
  return new Promise((resolve) => {
    process.nextTick(resolve);
  });
}

/** The budget of this process; runs share it, because they share its event loop. */
export const eventLoopBudget = new ProcessEventLoopBudget();

/** The budget of requests, which continue however busy the runs are. */
export const requestBudget: Pick<EventLoopBudget, 'exhausted'> = new ProcessEventLoopBudget();

/** Runs `work` at once, or in a later tick when the current slice is used up. */
export function runInBudget<T>(budget: EventLoopBudget, work: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const runNow = (): void => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    };
    if (budget.exhausted()) budget.defer(runNow);
    else runNow();
  });
}
