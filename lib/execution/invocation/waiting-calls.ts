import type { EventLoopBudget } from '../../../machines/ports.js';
import { nextSlice } from '../run/event-loop-budget.js';

/** A call that waits to begin. */
export interface CancellableWait {
  /** Ends the wait, and fails the call. Does nothing for one that does not wait any more. */
  cancel(): void;
}

/** The calls of one run that wait for places of pools (D81). A cancel ends their waits, also without force. */
export class WaitingCalls {
  /** No call waits any more. */
  isCancelled = false;
  readonly #calls = new Set<CancellableWait>();
  readonly #reported = new Set<string>();

  add(call: CancellableWait): void {
    this.#calls.add(call);
  }

  delete(call: CancellableWait): void {
    this.#calls.delete(call);
  }

  /** Returns true when it was not called for the task before. */
  isFirstOf(taskId: string): boolean {
    if (this.#reported.has(taskId)) return false;
    this.#reported.add(taskId);
    return true;
  }

  /** Ends the waits, some in later slices: they may be thousands. */
  async cancel(budget: EventLoopBudget): Promise<void> {
    this.isCancelled = true;
    for (const call of this.#calls) {
      call.cancel();
      if (budget.exhausted()) await nextSlice(budget);
    }
  }
}
