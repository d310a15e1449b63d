import type { Clock } from '../../common/clock.js';
import { formatCount } from '../../common/text.js';
import type { PrunedRun, PruneReason } from '../../runs/store/run-archive.js';
import type { Metrics } from '../../telemetry/metrics.js';
import type { Log } from './log.js';

/** The log has a line about deleted runs at most this often. */
const REPORT_MS = 60_000;

const LIMITS: Readonly<Record<PruneReason, string>> = {
  age: 'SERVICE_RUN_TTL',
  number: 'SERVICE_RUN_KEEP',
  bytes: 'SERVICE_STORE_BYTES',
  keep: '"keep" of the definition',
};

/** Says which settled runs were deleted because they exceeded a limit of the store (D74): in a metric and in the log. */
export class PrunedRunReport {
  readonly #log: Log;
  readonly #metrics: Metrics;
  readonly #clock: Clock;
  /** Deleted since the last line. */
  #counts = new Map<PruneReason, number>();
  #clearTimer: (() => void) | undefined;

  constructor(log: Log, metrics: Metrics, clock: Clock) {
    this.#log = log;
    this.#metrics = metrics;
    this.#clock = clock;
  }

  add(runs: readonly PrunedRun[]): void {
    for (const { reason } of runs) {
      this.#metrics.recordPruned(reason);
      this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
    }
    if (this.#clearTimer === undefined) this.#report();
  }

  close(): void {
    this.#clearTimer?.();
    this.#clearTimer = undefined;
    this.#write();
  }

  #report(): void {
    this.#clearTimer = undefined;
    if (this.#counts.size === 0) return;
    this.#write();
    const timer = this.#clock.setTimeout(() => this.#report(), REPORT_MS);
    this.#clearTimer = () => this.#clock.clearTimeout(timer);
  }

  #write(): void {
    for (const [reason, count] of this.#counts) {
      const limit = LIMITS[reason];
      this.#log.info(
        { reason, runs: count },
        `${formatCount(count, 'settled run')} deleted: more than ${limit} allows`,
      );
    }
    this.#counts = new Map();
  }
}
