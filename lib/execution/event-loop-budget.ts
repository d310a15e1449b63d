import type { EventLoopBudget } from '../../machines/ports.js';
import { eventLoopOverruns } from '../common/queues/event-loop-overruns.js';
import { EventLoopSlice, microtasksToSettle } from '../common/queues/event-loop-slice.js';
import { FairQueue } from '../common/queues/fair-queue.js';

/** The tenant of work that belongs to no run. */
const SERVICE = '';

/**
 * Decides when runs yield the event loop. Runs start tasks and items in slices, so that timers, requests and signals
 * are served in between, however wide a wave is. Tenants whose work was deferred take turns (D25).
 */
class ProcessEventLoopBudget implements EventLoopBudget {
  readonly #slice = new EventLoopSlice();
  readonly #deferred = new FairQueue<() => void>();
  #isScheduled = false;

  exhausted(): boolean {
    return this.#slice.isOver;
  }

  defer(next: () => void, tenantId = SERVICE): void {
    this.#deferred.add(tenantId, next);
    this.#schedule();
  }

  /** The same budget, for the runs of one tenant. */
  forTenant(tenantId: string): EventLoopBudget {
    return new TenantBudget(this, tenantId);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => void this.#continueDeferred());
  }

  async #continueDeferred(): Promise<void> {
    this.#slice.start();
    do {
      const begun = eventLoopOverruns.begin();
      this.#deferred.next()?.();
      // What the callback has set off counts as well, such as the results of the items that it has started.
      await microtasksToSettle();
      eventLoopOverruns.end('tasks', begun);
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

/** The budget of this process; runs share it, because they share its event loop. */
export const eventLoopBudget = new ProcessEventLoopBudget();

/** Resolves in a later slice. Await it between the parts of long work whenever the budget is exhausted. */
export function nextSlice(budget: EventLoopBudget): Promise<void> {
  return new Promise((resolve) => {
    budget.defer(resolve);
  });
}
