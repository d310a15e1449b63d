import { systemClock } from '../clock.js';
import { EventLoopSlice, microtasksToSettle } from './event-loop-slice.js';
import { FairQueue } from './fair-queue.js';

/** How long what arrives from all servers together may hold the event loop in one turn of it. */
const SLICE_MS = 2;

/** How long what has used up its slice waits for the next one: the turns in between belong to runs and requests. */
const REST_MS = 14;

/**
 * Shares the event loop between the answers of servers that tools and models ask. One packet may hold a thousand
 * messages, and many packets arrive in one turn. Whoever handles them asks after each whether the slice of this turn is
 * over, and then waits for a later slice. The waiting ones take turns, tenant by tenant (D25), and have an eighth of
 * the time together: as much as the fastest models need, and no more than others can spare.
 */
class IncomingTurns {
  readonly #waiting = new FairQueue<() => void>();
  readonly #slice = new EventLoopSlice(SLICE_MS);
  #isScheduled = false;

  /** True when no more may be handled in this turn of the event loop. */
  get isOver(): boolean {
    return this.#slice.isOver;
  }

  /** Resolves in a later slice. @param tenantId the tenant, or the server of all tenants, that waits */
  wait(tenantId: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(tenantId, resolve);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    systemClock.setTimeout(() => void this.#resumeWaiting(), REST_MS);
  }

  async #resumeWaiting(): Promise<void> {
    this.#slice.start();
    // A handler that waits again meanwhile continues in the next slice.
    for (let count = this.#waiting.size; count > 0 && !this.isOver; count--) {
      this.#waiting.next()?.();
      // Lets what was resumed handle its next messages, so that their time counts.
      await microtasksToSettle();
    }
    this.#isScheduled = false;
    if (this.#waiting.size > 0) this.#schedule();
  }
}

/** The turns of this process, which has one event loop. */
export const incomingTurns = new IncomingTurns();
