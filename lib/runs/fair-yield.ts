import { FairQueue } from '../common/fair-queue.js';
import { requestBudget } from '../execution/event-loop-budget.js';

/**
 * Those who wait for the event loop.
 *
 * Who waits in one turn of it continues together in the next one, which takes half the time of serving one after
 * another: each step of all of them runs while its code and its data are in the processor's caches. Tenants take turns,
 * and what does not fit into the time of one turn of the loop continues in the next (D25).
 */
class EventLoopTurns {
  readonly #waiting = new FairQueue<() => void>();
  #isScheduled = false;

  wait(tenantId: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(tenantId, resolve);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => void this.#resumeWaiting());
  }

  async #resumeWaiting(): Promise<void> {
    // Whoever waits again, or comes meanwhile, continues in the next turn, after new connections and timers.
    for (let count = this.#waiting.size; count > 0 && !requestBudget.exhausted(); count--) {
      this.#waiting.next()?.();
      // Lets it continue, so that the time that it takes counts.
      await Promise.resolve();
    }
    this.#isScheduled = false;
    if (this.#waiting.size > 0) this.#schedule();
  }
}

const turns = new EventLoopTurns();

/**
 * Resolves in a later turn of the event loop, when requests may hold it again. Await it before work that many requests
 * may cause at once, and between the slices of long work.
 */
export function fairYield(tenantId: string): Promise<void> {
  return turns.wait(tenantId);
}
