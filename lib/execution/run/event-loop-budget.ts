import type { EventLoopBudget } from '../../../machines/ports.js';
import { eventLoopScheduler } from '../../common/scheduling/event-loop-scheduler.js';

/** The tenant of work that belongs to no run. */
const SERVICE = '';

/** Decides when the runs of one tenant yield the event loop, so that timers, requests and signals are served in between. */
class TenantBudget implements EventLoopBudget {
  readonly #tenantId: string;

  constructor(tenantId: string) {
    this.#tenantId = tenantId;
  }

  exhausted(): boolean {
    return eventLoopScheduler.isOver;
  }

  defer(next: () => void): void {
    eventLoopScheduler.defer(this.#tenantId, 'tasks', next);
  }

  /** The budget for the runs of another tenant. */
  forTenant(tenantId: string): EventLoopBudget {
    return new TenantBudget(tenantId);
  }
}

/** The budget of this process; runs share it, because they share its event loop. */
export const eventLoopBudget = new TenantBudget(SERVICE);

/** Resolves in a later slice when the time of this one is used up; undefined before. Pauses long work between its steps. */
export function nextSliceWhenOver(budget: EventLoopBudget): Promise<void> | undefined {
  return budget.exhausted() ? nextSlice(budget) : undefined;
}

/** Resolves in a later slice. Await it between the parts of long work whenever the budget is exhausted. */
export function nextSlice(budget: EventLoopBudget): Promise<void> {
  return new Promise((resolve) => {
    budget.defer(resolve);
  });
}
