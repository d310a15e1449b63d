import type { LiveEvent } from '../execution/events/event.js';
import { warnListenerRemoved } from '../execution/events/journal.js';

/** Consecutive events, and whether events before them were dropped. */
export interface EventPage {
  readonly events: readonly LiveEvent[];
  readonly gap: boolean;
}

/**
 * The last events of one run (D30). A reader passes the number of the last event it has and gets those that follow, at
 * its own speed: the log waits for no reader and keeps nothing per reader.
 */
export class EventLog {
  #events: LiveEvent[] = [];
  /** Number of the newest dropped event. */
  #dropped = 0;
  #closed = false;
  readonly #capacity: number;
  readonly #subscribers = new Set<() => void>();

  /** @param capacity keeps at least this many events, and at most twice as many */
  constructor(capacity: number) {
    this.#capacity = capacity;
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
    this.#events.push(event);
    // Drops half of the events at a time, so that appending to a full log stays cheap.
    if (this.#events.length > 2 * this.#capacity) this.#drop(this.#events.length - this.#capacity);
    this.#notify();
  }

  /** Call when the run has settled. */
  close(): void {
    this.#closed = true;
    this.#notify();
    this.#subscribers.clear();
  }

  /** Drops all events to free their memory; readers that lack some get a gap. */
  clear(): void {
    this.#drop(this.#events.length);
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

  #drop(count: number): void {
    this.#dropped = this.#events[count - 1]?.seq ?? this.#dropped;
    this.#events = this.#events.slice(count);
  }

  #notify(): void {
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
