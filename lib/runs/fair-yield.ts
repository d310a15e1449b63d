import { eventLoopOverruns, measureSteps, type Place } from '../common/queues/event-loop-overruns.js';
import { EventLoopSlice } from '../common/queues/event-loop-slice.js';
import { FairQueue } from '../common/queues/fair-queue.js';
import { runWithPauses, type Steps } from '../common/steps.js';

/**
 * The requests that wait for the event loop. They have a slice of their own in each turn of it, so that they continue
 * however busy the runs are.
 *
 * Those that wait in one turn continue together in the next one, which takes half the time of serving one after
 * another: each step of all of them runs while its code and its data are in the processor's caches. Tenants take turns,
 * and what does not fit into the slice of one turn continues in the next (D25).
 */
class EventLoopTurns {
  readonly #waiting = new FairQueue<() => void>();
  readonly #slice = new EventLoopSlice();
  #isScheduled = false;

  /** True when the time of this turn is used up. */
  get isOver(): boolean {
    return this.#slice.isOver;
  }

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
    for (let count = this.#waiting.size; count > 0 && !this.#slice.isOver; count--) {
      const begun = eventLoopOverruns.begin();
      this.#waiting.next()?.();
      // Lets it continue, so that the time that it takes counts.
      await Promise.resolve();
      eventLoopOverruns.end('requests', begun);
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

/** Like `fairYield`, once requests have used up their time of this turn; undefined before. Call it between short steps. */
export function yieldWhenOver(tenantId: string): Promise<void> | undefined {
  return turns.isOver ? turns.wait(tenantId) : undefined;
}

/**
 * Does the steps of long work of a request, one in each turn of the event loop. Rejects with what they throw.
 *
 * @param place of its overruns in the metrics
 */
export function runInTurns<T>(steps: Steps<T>, tenantId: string, place: Place = 'requests'): Promise<T> {
  return runWithPauses(measureSteps(steps, place), () => fairYield(tenantId));
}
