import { FairQueue } from './fair-queue.js';
import { type Limit, SharedLimit } from '../memory/shared-limit.js';

/** Ends a turn. May be called again. */
export type EndTurn = () => void;

/** Work that waits for its turn. */
interface WaitingWork {
  readonly begin: () => void;
}

/**
 * Lets few works that take much memory go on at once: all of them at once would take no less time, but all of their memory.
 * The others wait, and those of different tenants go on in turns, so that a tenant waits for itself and no longer than that
 * is fair (D25).
 */
export class SharedTurns {
  readonly #taken: SharedLimit;
  readonly #waiting = new FairQueue<WaitingWork>();

  constructor(limit: Limit) {
    this.#taken = new SharedLimit(limit);
  }

  /** Resolves when the tenant may go on, with the function that ends its turn. */
  async take(tenantId: string): Promise<EndTurn> {
    if (!this.#taken.tryAcquire(tenantId)) {
      await new Promise<void>((begin) => this.#waiting.add(tenantId, { begin }));
    }
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      this.#end(tenantId);
    };
  }

  #end(tenantId: string): void {
    this.#taken.release(tenantId);
    // Perhaps several: a tenant whose last turn has ended may have its guaranteed one, beside the one that this leaves free.
    let next: WaitingWork | undefined;
    do {
      next = this.#waiting.next((waiting) => this.#taken.tryAcquire(waiting));
      next?.begin();
    } while (next !== undefined);
  }
}
