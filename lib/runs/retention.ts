import type { Clock } from '../common/clock.js';
import type { EventLog } from './event-log.js';
import type { RetentionLimits } from './registry-options.js';
import { Line } from './linked-set.js';

interface Kept {
  readonly log: EventLog;
  readonly settledAt: number;
  readonly bytes: number;
}

/** Which settled runs are still to be had: the newest, and none that is too old (D26). */
export class Retention {
  readonly #kept = new Map<string, Kept>();
  /** Their ids; the one that settled first stands first. */
  readonly #order = new Line<string>();
  /** Those of them that still have their events. */
  readonly #withEvents = new Line<string>();
  #events = 0;
  #bytes = 0;
  readonly #limits: RetentionLimits;
  readonly #clock: Clock;
  readonly #forget: (runId: string) => void;

  /** @param forget is called with each run that is kept no longer */
  constructor(limits: RetentionLimits, clock: Clock, forget: (runId: string) => void) {
    this.#limits = limits;
    this.#clock = clock;
    this.#forget = forget;
  }

  /**
   * A run has settled, and is kept from now on for a while.
   *
   * @param bytes what it takes in memory
   */
  keep(runId: string, log: EventLog, bytes = 0): void {
    this.release(runId);
    this.#kept.set(runId, { log, settledAt: this.#clock.now(), bytes });
    this.#bytes += bytes;
    this.#order.add(runId);
    this.#withEvents.add(runId);
    this.#events += log.size;
    this.#dropEvents();
    this.sweep();
  }

  /** A run is no longer there. */
  release(runId: string): void {
    this.#releaseEvents(runId);
    this.#order.delete(runId);
    this.#bytes -= this.#kept.get(runId)?.bytes ?? 0;
    this.#kept.delete(runId);
  }

  /** Lets go of what is too old or too many; to be called before anybody looks. */
  sweep(): void {
    const now = this.#clock.now();
    for (let runId = this.#order.first; runId !== undefined; runId = this.#order.first) {
      if (!this.#isTooMuch() && !this.#isTooOld(runId, now)) return;
      this.release(runId);
      this.#forget(runId);
    }
  }

  #isTooMuch(): boolean {
    const { keep, bytes = Number.POSITIVE_INFINITY } = this.#limits;
    return this.#kept.size > keep || (this.#bytes > bytes && this.#kept.size > 1);
  }

  #isTooOld(runId: string, now: number): boolean {
    const settledAt = this.#kept.get(runId)?.settledAt ?? now;
    return now - settledAt >= this.#limits.ttlMs;
  }

  /** The oldest runs lose their events before they are lost themselves. */
  #dropEvents(): void {
    for (let runId = this.#withEvents.first; runId !== undefined; runId = this.#withEvents.first) {
      if (this.#events <= this.#limits.events) return;
      this.#releaseEvents(runId)?.clear();
    }
  }

  /** The log of a run whose events count no longer; undefined when they did not. */
  #releaseEvents(runId: string): EventLog | undefined {
    if (!this.#withEvents.delete(runId)) return undefined;
    const log = this.#kept.get(runId)?.log;
    this.#events -= log?.size ?? 0;
    return log;
  }
}
