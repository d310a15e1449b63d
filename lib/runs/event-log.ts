import { warnListenerRemoved } from '../common/warnings.js';
import type { LiveEvent } from '../execution/events/event.js';
import { measureEvent } from '../execution/events/journal.js';
import type { MemoryBudget } from '../execution/memory-budget.js';

/** Consecutive entries, and whether entries before them were dropped. */
export interface LogPage<E> {
  readonly events: readonly E[];
  readonly gap: boolean;
}

export interface TailLogOptions<E> {
  /** The largest number of entries, and the memory that they may take, in bytes. */
  readonly limits: { readonly entries: number; readonly length: number };
  /** Number of entries that are kept when one more comes than the largest number, so that appending stays cheap. */
  readonly kept: number;
  /** Returns the memory that an entry takes, in bytes. */
  readonly measure: (entry: E) => number;
  /** Of the run; when the run needs memory, the log drops the oldest entries. */
  readonly budget: MemoryBudget | undefined;
  /** Number of the entry before the first, which is not known. */
  readonly dropped: number;
  readonly content: string;
}

/**
 * The last entries of one run, by number (D30). A reader passes the number of the last entry it has and gets those that
 * follow, at its own speed: the log waits for no reader and keeps nothing per reader.
 */
export class TailLog<E extends { readonly seq: number }> {
  #entries: E[] = [];
  #dropped: number;
  #closed = false;
  #bytes = 0;
  readonly #options: TailLogOptions<E>;
  readonly #subscribers = new Set<() => void>();

  constructor(options: TailLogOptions<E>) {
    this.#options = options;
    this.#dropped = options.dropped;
    options.budget?.onPressure(() => this.#dropHalf());
  }

  /** Number of the newest entry; 0 before the first. */
  get lastSeq(): number {
    return this.#entries.at(-1)?.seq ?? this.#dropped;
  }

  get size(): number {
    return this.#entries.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Appends an entry; ignores it once the log is closed, because a tool may log after its run has settled. */
  append(entry: E): void {
    if (this.#closed) return;
    const { limits, kept, budget, measure } = this.#options;
    const bytes = measure(entry);
    const { length } = this.#entries;
    if (length >= limits.entries) this.#drop(length - kept);
    while (this.#bytes + bytes > limits.length && this.#dropHalf());
    // Without memory, reserving has dropped the others.
    if (budget?.tryReserve(bytes) === false) this.#dropped = entry.seq;
    else {
      this.#entries.push(entry);
      this.#bytes += bytes;
    }
    this.#notify();
  }

  close(): void {
    this.#closed = true;
    this.#notify();
    this.#subscribers.clear();
  }

  readAfter(seq: number, limit: number): LogPage<E> {
    const from = Math.max(0, seq - this.#dropped);
    return { events: this.#entries.slice(from, from + limit), gap: seq < this.#dropped };
  }

  /** Calls the subscriber whenever an entry was appended and when the log closes. Returns the unsubscribe function. */
  subscribe(subscriber: () => void): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  #dropHalf(): boolean {
    return this.#drop(Math.ceil(this.#entries.length / 2));
  }

  /** Returns false when there is no entry to drop. */
  #drop(count: number): boolean {
    const dropped = this.#entries.slice(0, count);
    const last = dropped.at(-1);
    if (last === undefined) return false;
    let bytes = 0;
    for (const entry of dropped) bytes += this.#options.measure(entry);
    this.#entries = this.#entries.slice(dropped.length);
    this.#dropped = last.seq;
    this.#bytes -= bytes;
    this.#options.budget?.release(bytes);
    return true;
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
      warnListenerRemoved(`a reader of ${this.#options.content}`, thrown);
    }
  }
}

/** A log with larger events than this, on average, keeps fewer of them. */
const MEAN_EVENT_BYTES = 1024;

export class EventLog extends TailLog<LiveEvent> {
  /**
   * @param capacity keeps at least this many events, unless they are large, and at most twice as many
   * @param past the events that another process has written: the log begins with the last of them
   */
  constructor(capacity: number, budget?: MemoryBudget, past: readonly LiveEvent[] = []) {
    const first = Math.max(0, past.length - capacity);
    super({
      limits: { entries: 2 * capacity, length: MEAN_EVENT_BYTES * capacity },
      kept: capacity - 1,
      measure: measureEvent,
      budget,
      dropped: past[first - 1]?.seq ?? 0,
      content: 'events',
    });
    for (const event of past.slice(first)) this.append(event);
  }
}
