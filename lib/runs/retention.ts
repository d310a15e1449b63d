import type { Clock } from '../common/clock.js';
import { LinkedSet } from '../common/linked-set.js';
import type { EventLog } from './event-log.js';

/** Limits on settled runs (D26). */
export interface RetentionLimits {
  readonly maxRuns: number;
  /** How long a settled run is kept, in milliseconds. */
  readonly ttlMs: number;
  /** Memory of all settled runs together. Default: unlimited. */
  readonly maxBytes?: number;
  /** Events of all settled runs together. */
  readonly maxEvents: number;
}

/** Keeps every settled run until it is forgotten. */
export const UNLIMITED_RETENTION: RetentionLimits = {
  maxRuns: Number.POSITIVE_INFINITY,
  ttlMs: Number.POSITIVE_INFINITY,
  maxEvents: Number.POSITIVE_INFINITY,
};

interface SettledRun {
  readonly log: EventLog;
  readonly settledAt: number;
  readonly bytes: number;
}

/** Limits how many settled runs are kept and for how long: evicts the oldest first (D26). */
export class Retention {
  readonly #runs = new Map<string, SettledRun>();
  /** Ids of the settled runs in the order in which they settled. */
  readonly #order = new LinkedSet<string>();
  /** Those of them whose events are still kept. */
  readonly #withEvents = new LinkedSet<string>();
  #events = 0;
  #bytes = 0;
  readonly #limits: RetentionLimits;
  readonly #clock: Clock;
  readonly #onEvict: (runId: string) => void;

  /** @param onEvict called with the id of each evicted run */
  constructor(limits: RetentionLimits, clock: Clock, onEvict: (runId: string) => void) {
    this.#limits = limits;
    this.#clock = clock;
    this.#onEvict = onEvict;
  }

  /**
   * Adds a run that has just settled, which may evict others, or this one.
   *
   * @param bytes memory size of the run
   */
  add(runId: string, log: EventLog, bytes = 0): void {
    this.delete(runId);
    this.#runs.set(runId, { log, settledAt: this.#clock.now(), bytes });
    this.#bytes += bytes;
    this.#order.add(runId);
    this.#withEvents.add(runId);
    this.#events += log.size;
    this.#dropEvents();
    this.sweep();
  }

  /** Removes a run without a call of `onEvict`. */
  delete(runId: string): void {
    this.#releaseEvents(runId);
    this.#order.delete(runId);
    this.#bytes -= this.#runs.get(runId)?.bytes ?? 0;
    this.#runs.delete(runId);
  }

  /** Evicts runs beyond the limits. Call before every read of the kept runs, because they expire without a timer. */
  sweep(): void {
    const now = this.#clock.now();
    for (let runId = this.#order.first; runId !== undefined; runId = this.#order.first) {
      if (!this.#isOverLimit() && !this.#isExpired(runId, now)) return;
      this.delete(runId);
      this.#onEvict(runId);
    }
  }

  #isOverLimit(): boolean {
    const { maxRuns, maxBytes = Number.POSITIVE_INFINITY } = this.#limits;
    return this.#runs.size > maxRuns || (this.#bytes > maxBytes && this.#runs.size > 1);
  }

  #isExpired(runId: string, now: number): boolean {
    const settledAt = this.#runs.get(runId)?.settledAt ?? now;
    return now - settledAt >= this.#limits.ttlMs;
  }

  /** Clears the event logs of the oldest runs until the kept events are within the limit. */
  #dropEvents(): void {
    for (let runId = this.#withEvents.first; runId !== undefined; runId = this.#withEvents.first) {
      if (this.#events <= this.#limits.maxEvents) return;
      this.#releaseEvents(runId)?.clear();
    }
  }

  /** Stops counting the events of a run. Returns its log; undefined when its events were not counted. */
  #releaseEvents(runId: string): EventLog | undefined {
    if (!this.#withEvents.delete(runId)) return undefined;
    const log = this.#runs.get(runId)?.log;
    this.#events -= log?.size ?? 0;
    return log;
  }
}
