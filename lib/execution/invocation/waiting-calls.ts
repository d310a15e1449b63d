import type { EventLoopBudget } from '../../../machines/ports.js';
import { toIsoTime } from '../../common/clock.js';
import { LinkedMap } from '../../common/memory/linked-map.js';
import type { WaitingFor } from '../../common/wire/run-summary.js';
import { nextSlice } from '../run/event-loop-budget.js';

/** A call that waits to begin, or to begin its next round. */
export interface CancellableWait {
  readonly call: { readonly task: { readonly id: string }; readonly item: number | undefined };
  /** The place of a pool, or the time, for which it waits. */
  readonly awaited: Pick<WaitingFor, 'reason' | 'pool' | 'until'>;
  /** Milliseconds since 1970, UTC. */
  readonly since: number;
  /** Ends the wait, and fails the call. Does nothing for one that does not wait any more. */
  cancel(): void;
}

type Waits = LinkedMap<number | undefined, CancellableWait>;

/** The calls of one run that wait for places of pools (D81), or for their next rounds (D83). A cancel ends their waits, also without force. */
export class WaitingCalls {
  /** No call waits any more. */
  isCancelled = false;
  /** The one that has waited longest is the first. */
  readonly #calls = new LinkedMap<CancellableWait, CancellableWait>();
  /** By task and item. */
  readonly #byTask = new Map<string, Waits>();
  readonly #reported = new Set<string>();

  add(wait: CancellableWait): void {
    const { task, item } = wait.call;
    this.#calls.add(wait, wait);
    let ofTask = this.#byTask.get(task.id);
    if (ofTask === undefined) this.#byTask.set(task.id, (ofTask = new LinkedMap()));
    ofTask.add(item, wait);
  }

  delete(wait: CancellableWait): void {
    const { task, item } = wait.call;
    this.#calls.delete(wait);
    const ofTask = this.#byTask.get(task.id);
    ofTask?.delete(item);
    if (ofTask?.size === 0) this.#byTask.delete(task.id);
  }

  /** The wait of the run: that of the call which has waited longest; null when none waits. */
  get waitingFor(): WaitingFor | null {
    const { first, size } = this.#calls;
    return first === undefined ? null : { ...describeWait(first), task_id: first.call.task.id, calls: size };
  }

  /** Returns the wait of a task, or of an item of it; undefined when it does not wait. */
  find(taskId: string, item: number | undefined): WaitingFor | undefined {
    const ofTask = this.#byTask.get(taskId);
    const call = item === undefined ? ofTask?.first : ofTask?.get(item);
    if (ofTask === undefined || call === undefined) return undefined;
    return { ...describeWait(call), ...(item === undefined && { calls: ofTask.size }) };
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
    for (let { first } = this.#calls; first !== undefined; { first } = this.#calls) {
      first.cancel();
      if (budget.exhausted()) await nextSlice(budget);
    }
  }
}

function describeWait({ awaited, since }: CancellableWait): WaitingFor {
  return { since: toIsoTime(since), ...awaited };
}
