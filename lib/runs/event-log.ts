import type { LiveEvent } from '../execution/events/event.js';
import { measureEvent } from '../execution/events/journal.js';
import type { MemoryBudget } from '../execution/memory-budget.js';
import { BoundedLog } from './bounded-log.js';

/** A log with larger events than this, on average, keeps fewer of them. */
const MEAN_EVENT_BYTES = 1024;

/** The last events of one run (D30). */
export class EventLog extends BoundedLog<LiveEvent> {
  readonly #capacity: number;

  /** @param capacity keeps at least this many events, unless they are large, and at most twice as many */
  constructor(capacity: number, budget?: MemoryBudget) {
    super({ most: 2 * capacity, kept: capacity, bytes: MEAN_EVENT_BYTES * capacity }, budget);
    this.#capacity = capacity;
  }

  protected override get readers(): string {
    return 'a reader of events';
  }

  protected override measure(event: LiveEvent): number {
    return measureEvent(event);
  }

  /** Appends an event; ignores it once the log is closed, because a tool may log after its run has settled. */
  append(event: LiveEvent): void {
    if (!this.isClosed) this.add(event);
  }

  /** Begins with the last of the events that another process has written: there may be very many. */
  restore(events: readonly LiveEvent[]): void {
    const first = Math.max(0, events.length - this.#capacity);
    this.skipTo(events[first - 1]?.seq ?? 0);
    for (const event of events.slice(first)) this.append(event);
  }
}
