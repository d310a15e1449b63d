import { warnListenerRemoved } from '../common/warnings.js';
import type { LiveEvent } from '../execution/events/event.js';
import { measureEvent } from '../execution/events/journal.js';
import type { MemoryBudget } from '../execution/memory-budget.js';

/** Consecutive events, and whether events before them were dropped. */
export interface EventPage {
  readonly events: readonly LiveEvent[];
  readonly gap: boolean;
}

/** A log with larger events than this, on average, keeps fewer of them. */
const MEAN_EVENT_BYTES = 1024;

/**
 * The last events of one run (D30). A reader passes the number of the last event it has and gets those that follow, at
 * its own speed: the log waits for no reader and keeps nothing per reader.
 */
export class EventLog {
  #events: LiveEvent[] = [];
  /** Number of the newest dropped event. */
  #dropped = 0;
  #closed = false;
  #bytes = 0;
  readonly #capacity: number;
  readonly #budget: MemoryBudget | undefined;
  readonly #subscribers = new Set<() => void>();

  /**
   * @param capacity keeps at least this many events, unless they are large, and at most twice as many
   * @param budget of the run; when the run needs memory, the log drops the oldest events
   */
  constructor(capacity: number, budget?: MemoryBudget) {
    this.#capacity = capacity;
    this.#budget = budget;
    budget?.onPressure(() => this.#dropHalf());
  }

  /** Number of the newest event; 0 before the first. */
  get lastSeq(): number {
    return this.#events.at(-1)?.seq ?? this.#dropped;
  }

  get size(): number {
    return this.#events.length;
  }

  /** No further event will follow. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Appends an event; ignores it once the log is closed, because a tool may log after its run has settled. */
  append(event: LiveEvent): void {
    if (this.#closed) return;
    const bytes = measureEvent(event);
    if (this.#makeRoom(bytes)) {
      this.#events.push(event);
      this.#bytes += bytes;
    } else this.#dropped = event.seq;
    this.#notify();
  }

  /** Begins with the last of the events that another process has written: there may be very many. */
  restore(events: readonly LiveEvent[]): void {
    const first = Math.max(0, events.length - this.#capacity);
    this.#dropped = events[first - 1]?.seq ?? 0;
    for (const event of events.slice(first)) this.append(event);
  }

  /** Call when the run has settled. */
  close(): void {
    this.#closed = true;
    this.#notify();
    this.#subscribers.clear();
  }

  /** The events after number `seq`, at most `limit` of them. */
  readAfter(seq: number, limit: number): EventPage {
    const from = Math.max(0, seq - this.#dropped);
    return { events: this.#events.slice(from, from + limit), gap: seq < this.#dropped };
  }

  /** Calls the subscriber whenever an event was appended and when the log closes. Returns the unsubscribe function. */
  subscribe(subscriber: () => void): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /** Drops half of the events at a time, so that appending to a full log stays cheap. */
  #makeRoom(bytes: number): boolean {
    const { length } = this.#events;
    if (length >= 2 * this.#capacity) this.#drop(length + 1 - this.#capacity);
    while (this.#bytes + bytes > MEAN_EVENT_BYTES * this.#capacity && this.#dropHalf());
    return this.#budget?.tryReserve(bytes) !== false;
  }

  /** Returns false when there is no event to drop. */
  #dropHalf(): boolean {
    if (this.#events.length === 0) return false;
    this.#drop(Math.ceil(this.#events.length / 2));
    return true;
  }

  #drop(count: number): void {
    let bytes = 0;
    for (const event of this.#events.slice(0, count)) bytes += measureEvent(event);
    this.#dropped = this.#events[count - 1]?.seq ?? this.#dropped;
    this.#events = this.#events.slice(count);
    this.#bytes -= bytes;
    this.#budget?.release(bytes);
  }

  #notify(): void {
    if (this.#subscribers.size === 0) return;
    // Iterates over a copy, because a subscriber may unsubscribe and subscribe again while it is called.
    const subscribers = [...this.#subscribers];
    for (const subscriber of subscribers) {
      if (this.#subscribers.has(subscriber)) this.#call(subscriber);
    }
  }

  /** Unsubscribes one that throws, with a warning: neither the run nor another reader depends on it. */
  #call(subscriber: () => void): void {
    try {
      subscriber();
    } catch (thrown) {
      this.#subscribers.delete(subscriber);
      warnListenerRemoved('a reader of events', thrown);
    }
  }
}
