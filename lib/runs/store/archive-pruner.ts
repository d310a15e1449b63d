import type { Clock } from '../../common/clock.js';
import { errorMessage } from '../../common/errors.js';
import { warnHost } from '../../common/warnings.js';
import type { ArchiveLimits, PrunedRun, RunArchive } from './run-archive.js';

/** Between two looks at the limits, and between two slices of runs that exceed them. */
const LOOK_MS = 5000;
const SLICE_MS = 10;

/** Deletes settled runs that exceed the limits of the archive, a slice at a time (D74). */
export class ArchivePruner {
  readonly #archive: RunArchive;
  readonly #limits: ArchiveLimits;
  readonly #clock: Clock;
  readonly #onPruned: (runs: readonly PrunedRun[]) => void;
  /** Of the last failure, which is reported once. */
  #failure: string | undefined;
  #delayMs = LOOK_MS;
  #clearTimer: (() => void) | undefined;
  #isClosed = false;
  #pruning: Promise<void> | undefined;

  constructor(
    archive: RunArchive,
    limits: ArchiveLimits,
    clock: Clock,
    onPruned: (runs: readonly PrunedRun[]) => void,
  ) {
    this.#archive = archive;
    this.#limits = limits;
    this.#clock = clock;
    this.#onPruned = onPruned;
  }

  start(): void {
    this.#look(0);
  }

  /** Deletes nothing from then on. Returns what to wait for until nothing is deleted any more. */
  close(): Promise<void> | undefined {
    this.#isClosed = true;
    this.#clearTimer?.();
    return this.#pruning;
  }

  #look(delayMs: number): void {
    const timer = this.#clock.setTimeout(() => {
      this.#pruning = this.#prune();
    }, delayMs);
    this.#clearTimer = () => this.#clock.clearTimeout(timer);
  }

  async #prune(): Promise<void> {
    let hasMore = false;
    try {
      const runs = await this.#archive.prune(this.#limits, this.#clock.now());
      hasMore = runs.length > 0;
      this.#failure = undefined;
      if (hasMore) this.#onPruned(runs);
    } catch (error) {
      this.#report(errorMessage(error));
    }
    // Deleted runs give their room back bit by bit: look again soon after.
    this.#delayMs = hasMore ? SLICE_MS : Math.min(LOOK_MS, 2 * this.#delayMs);
    if (!this.#isClosed) this.#look(this.#delayMs);
  }

  #report(failure: string): void {
    if (failure !== this.#failure) {
      warnHost(`settled runs that exceed the limits of the store cannot be deleted: ${failure}`);
    }
    this.#failure = failure;
  }
}
