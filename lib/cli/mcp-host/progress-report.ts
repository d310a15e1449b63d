import type { LiveEvent } from '../../execution/events/event.js';
import type { HostCall } from './served-tool.js';

/** Between two reports: a fan-out may settle thousands of items in a second. */
const INTERVAL_MS = 100;

/** The events with which tasks end, in words. */
const ENDINGS: ReadonlyMap<string, string> = new Map([
  ['finish', 'finished'],
  ['fail', 'failed'],
  ['skip', 'skipped'],
]);

/** Reports how far a run is: its settled tasks, with the settled part of fan-outs. */
export class RunProgressReport {
  readonly #tasks: number;
  readonly #report: NonNullable<HostCall['report']>;
  readonly #now: () => number;
  #settled = 0;
  /** Of fan-outs at work: how many of their items have settled. */
  readonly #items = new Map<string, { settled: number; readonly total: number }>();
  #reportedMs = Number.NEGATIVE_INFINITY;

  /** @param now monotonic time, in milliseconds */
  constructor(tasks: number, report: NonNullable<HostCall['report']>, now: () => number) {
    this.#tasks = tasks;
    this.#report = report;
    this.#now = now;
  }

  onEvent(event: LiveEvent): void {
    // Tasks of nested runs are part of the task that runs them.
    if (!('task_id' in event) || event.within !== undefined) return;
    const name = event.sub_pipeline === undefined ? event.task_id : `${event.sub_pipeline}/${event.task_id}`;
    if (event.kind === 'start' && event.items !== undefined)
      this.#items.set(name, { settled: 0, total: event.items });
    if (event.kind === 'item') this.#onItem(name);
    const ending = ENDINGS.get(event.kind);
    if (ending !== undefined) {
      this.#items.delete(name);
      this.#settled++;
      this.#send(`${name} ${ending}`, true);
    }
  }

  #onItem(name: string): void {
    const items = this.#items.get(name);
    if (items === undefined) return;
    items.settled++;
    this.#send(`${name}: ${items.settled} of ${items.total} items`, false);
  }

  #send(message: string, isTask: boolean): void {
    const nowMs = this.#now();
    if (!isTask && nowMs - this.#reportedMs < INTERVAL_MS) return;
    // The progress only grows: the items of a task are together less than the task, which takes their place when it has
    // settled.
    let progress = this.#settled;
    for (const { settled, total } of this.#items.values()) progress += settled / (total + 1);
    this.#reportedMs = nowMs;
    this.#report(progress, this.#tasks, message);
  }
}
