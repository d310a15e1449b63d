import type { LiveEvent } from '../execution/events/event.js';
import { warnOfListener } from '../execution/events/journal.js';

/** What a reader gets: events in order, and whether some before them are gone for good. */
export interface Reading {
  readonly events: readonly LiveEvent[];
  readonly gap: boolean;
}

/**
 * The last events of one run (D30). Readers come with the number of the last event they know and take what
 * follows, each at its own pace: nobody is waited for, and nothing is kept for anybody in particular.
 */
export class EventLog {
  #events: LiveEvent[] = [];
  /** Number of the last event that was dropped: readers who know less have missed something. */
  #dropped = 0;
  #closed = false;
  readonly #capacity: number;
  readonly #watchers = new Set<() => void>();

  /** @param capacity how many events are kept at least */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Number of the newest event; 0 before the first. */
  get last(): number {
    return this.#events.at(-1)?.seq ?? this.#dropped;
  }

  get size(): number {
    return this.#events.length;
  }

  /** No further event will come. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Takes what comes next; a word from a tool after the run has settled comes too late. */
  append(event: LiveEvent): void {
    if (this.#closed) return;
    this.#events.push(event);
    // Dropped half by half, so that a full log costs no more than one that is filling.
    if (this.#events.length > 2 * this.#capacity) this.#drop(this.#events.length - this.#capacity);
    this.#tell();
  }

  /** The run has settled. */
  close(): void {
    this.#closed = true;
    this.#tell();
    this.#watchers.clear();
  }

  /** Gives the memory back; whoever reads from now on meets a gap. */
  clear(): void {
    this.#drop(this.#events.length);
  }

  /** The events after number `seq`, at most `limit` of them. */
  after(seq: number, limit: number): Reading {
    const from = Math.max(0, seq - this.#dropped);
    return { events: this.#events.slice(from, from + limit), gap: seq < this.#dropped };
  }

  /** Calls back whenever there is more to read, and when the log is closed. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #drop(count: number): void {
    this.#dropped = this.#events[count - 1]?.seq ?? this.#dropped;
    this.#events = this.#events.slice(count);
  }

  #tell(): void {
    // A copy, because a watcher may stop watching and begin anew while it is told.
    const watchers = [...this.#watchers];
    for (const watcher of watchers) {
      if (this.#watchers.has(watcher)) this.#call(watcher);
    }
  }

  /** One that throws is let go with a warning: neither the run nor another reader depends on it. */
  #call(watcher: () => void): void {
    try {
      watcher();
    } catch (thrown) {
      this.#watchers.delete(watcher);
      warnOfListener('a reader of events', thrown);
    }
  }
}
