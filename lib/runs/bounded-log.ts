import { warnListenerRemoved } from '../common/warnings.js';
import type { MemoryBudget } from '../execution/memory-budget.js';

/** Consecutive entries, and whether entries before them were dropped. */
interface LogPage<Entry> {
  readonly events: readonly Entry[];
  readonly gap: boolean;
}

/** How much a log keeps. */
interface LogLimits {
  /** A log with so many entries drops the oldest ones before the next is added. */
  readonly most: number;
  /** The entries that are left then, with the next one. */
  readonly kept: number;
  /** Memory of all entries, in bytes. */
  readonly bytes: number;
}

/**
 * The last entries of one run, numbered from 1. A reader passes the number of the last entry it has and gets those that
 * follow, at its own speed: the log waits for no reader and keeps nothing per reader.
 */
export abstract class BoundedLog<Entry extends { readonly seq: number }> {
  #entries: Entry[] = [];
  /** Number of the newest dropped entry. */
  #dropped: number;
  #isClosed = false;
  #bytes = 0;
  readonly #limits: LogLimits;
  readonly #budget: MemoryBudget | undefined;
  readonly #subscribers = new Set<() => void>();

  /**
   * @param budget of the run; when the run needs memory, the log drops the oldest entries
   * @param dropped number of entries before the first, which are not known
   */
  constructor(limits: LogLimits, budget: MemoryBudget | undefined, dropped = 0) {
    this.#limits = limits;
    this.#budget = budget;
    this.#dropped = dropped;
    budget?.onPressure(() => this.#dropHalf());
  }

  /** Names its readers in a warning. */
  protected abstract get readers(): string;

  /** Memory of an entry, in bytes. */
  protected abstract measure(entry: Entry): number;

  /** Number of the newest entry; 0 before the first. */
  get lastSeq(): number {
    return this.#entries.at(-1)?.seq ?? this.#dropped;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Number of entries that were dropped: the oldest ones. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Memory of the entries, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** No further entry will follow. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Adds the entry whose number is next, or drops it when there is no memory for it. */
  protected add(entry: Entry): void {
    const bytes = this.measure(entry);
    if (this.#makeRoom(bytes)) {
      this.#entries.push(entry);
      this.#bytes += bytes;
    } else this.#dropped = entry.seq;
    this.#notify();
  }

  /** Begins after a number: entries up to it were dropped. */
  protected skipTo(seq: number): void {
    this.#dropped = seq;
  }

  /** Call when the run has settled. */
  close(): void {
    this.#isClosed = true;
    this.#notify();
    this.#subscribers.clear();
  }

  /** The entries after number `seq`, at most `limit` of them. */
  readAfter(seq: number, limit: number): LogPage<Entry> {
    const from = Math.max(0, seq - this.#dropped);
    return { events: this.#entries.slice(from, from + limit), gap: seq < this.#dropped };
  }

  /** Calls the subscriber whenever an entry was added and when the log closes. Returns the unsubscribe function. */
  subscribe(subscriber: () => void): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /** Drops many entries at a time, so that appending to a full log stays cheap. */
  #makeRoom(bytes: number): boolean {
    const { length } = this.#entries;
    const { most, kept, bytes: mostBytes } = this.#limits;
    if (length >= most) this.#drop(length + 1 - kept);
    while (this.#bytes + bytes > mostBytes && this.#dropHalf());
    return this.#budget?.tryReserve(bytes) !== false;
  }

  /** Returns false when there is no entry to drop. */
  #dropHalf(): boolean {
    if (this.#entries.length === 0) return false;
    this.#drop(Math.ceil(this.#entries.length / 2));
    return true;
  }

  #drop(count: number): void {
    let bytes = 0;
    for (const entry of this.#entries.slice(0, count)) bytes += this.measure(entry);
    this.#dropped = this.#entries[count - 1]?.seq ?? this.#dropped;
    this.#entries = this.#entries.slice(count);
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
      warnListenerRemoved(this.readers, thrown);
    }
  }
}
