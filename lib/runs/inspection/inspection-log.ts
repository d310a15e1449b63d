import { measureLetters } from '../../common/json/json.js';
import { INSPECTION_LIMITS } from '../../common/limits.js';
import { warnListenerRemoved } from '../../common/warnings.js';
import type { MemoryBudget } from '../../execution/memory-budget.js';
import type { InspectionEntry } from './entry.js';

/** An entry as it is kept: its text takes less memory than its objects, and is what readers are sent. */
export interface WrittenEntry {
  readonly seq: number;
  /** The InspectionEntry as JSON. */
  readonly json: string;
  /** Memory that the entry takes, in bytes. */
  readonly bytes: number;
}

/** Consecutive entries, and whether entries before them were dropped. */
export interface InspectionPage {
  readonly events: readonly WrittenEntry[];
  readonly gap: boolean;
}

interface LogLimits {
  readonly entries: number;
  /** In bytes of memory. */
  readonly length: number;
}

/** Memory of an entry besides its text, in bytes. */
const ENTRY_BYTES = 64;

/**
 * The last inspection entries of one run. Readers take them at their own speed, as from the event log: it waits for none and
 * keeps nothing for one.
 */
export class InspectionLog {
  #entries: WrittenEntry[] = [];
  #bytes = 0;
  #dropped = 0;
  #isClosed = false;
  readonly #limits: LogLimits;
  readonly #budget: MemoryBudget | undefined;
  readonly #subscribers = new Set<() => void>();

  /**
   * @param budget of the run; when the run needs memory, the log drops its oldest entries
   * @param dropped number of entries before the first, which are not known
   */
  constructor(budget?: MemoryBudget, limits: LogLimits = INSPECTION_LIMITS, dropped = 0) {
    this.#dropped = dropped;
    this.#budget = budget;
    this.#limits = limits;
    budget?.onPressure(() => this.#dropHalf());
  }

  /** Number of the newest entry; 0 before the first. */
  get lastSeq(): number {
    return this.#dropped + this.#entries.length;
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

  append(entry: Omit<InspectionEntry, 'seq'>): void {
    if (this.#isClosed) return;
    const seq = this.lastSeq + 1;
    const json = JSON.stringify({ seq, ...entry });
    const bytes = ENTRY_BYTES + measureLetters(json);
    if (this.#entries.length >= this.#limits.entries) this.#dropHalf();
    while (this.#bytes + bytes > this.#limits.length && this.#dropHalf());
    if (this.#budget?.tryReserve(bytes) === false) {
      // Reserving has dropped the others.
      this.#dropped++;
    } else {
      this.#entries.push({ seq, json, bytes });
      this.#bytes += bytes;
    }
    this.#notify();
  }

  /** Call when the run has settled. */
  close(): void {
    this.#isClosed = true;
    this.#notify();
    this.#subscribers.clear();
  }

  /** The entries after number `seq`, at most `limit` of them. */
  readAfter(seq: number, limit: number): InspectionPage {
    const from = Math.max(0, seq - this.#dropped);
    return { events: this.#entries.slice(from, from + limit), gap: seq < this.#dropped };
  }

  /** Calls the subscriber after every entry and when the log closes. Returns the unsubscribe function. */
  subscribe(subscriber: () => void): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /** Returns false when there is no entry to drop. */
  #dropHalf(): boolean {
    const count = Math.ceil(this.#entries.length / 2);
    if (count === 0) return false;
    let bytes = 0;
    for (const entry of this.#entries.slice(0, count)) bytes += entry.bytes;
    this.#entries = this.#entries.slice(count);
    this.#dropped += count;
    this.#bytes -= bytes;
    this.#budget?.release(bytes);
    return true;
  }

  #notify(): void {
    // Iterates over a copy: one that subscribes again while it is called would be called without end.
    const subscribers = Array.from(this.#subscribers);
    for (const subscriber of subscribers) {
      try {
        subscriber();
      } catch (thrown) {
        this.#subscribers.delete(subscriber);
        warnListenerRemoved('a reader of inspection entries', thrown);
      }
    }
  }
}
