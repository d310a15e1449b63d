import { WavetrainError } from '../common/errors.js';
import { FairQueue } from '../common/fair-queue.js';
import { LinkedSet } from '../common/linked-set.js';
import { eventLoopBudget } from '../execution/event-loop-budget.js';
import type { RunEntry } from './run-entry.js';

/** Limits on queued and running runs (D25). */
export interface AdmissionLimits {
  readonly maxRunning: number;
  readonly maxQueued: number;
  /** Memory of all queued and running runs together. Default: unlimited. */
  readonly maxBytes?: number;
}

/** Starts every run at once. */
export const UNLIMITED_ADMISSION: AdmissionLimits = { maxRunning: Number.POSITIVE_INFINITY, maxQueued: 0 };

/** Starts queued runs as slots become free, and rejects submissions beyond the limits (D25). */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #queue = new FairQueue<RunEntry>();
  readonly #running = new Set<RunEntry>();
  /** Memory of all queued and running runs. */
  #bytes = 0;
  #closed = false;
  #isFilling = false;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /** The number of queued and of running runs. */
  get load(): { readonly queued: number; readonly running: number } {
    return { queued: this.#queue.size, running: this.#running.size };
  }

  /**
   * Call before a run is created.
   *
   * @throws WavetrainError `queue_full` or `shutting_down`
   */
  checkCapacity(): void {
    if (this.#closed)
      throw new WavetrainError('shutting_down', 'the server is shutting down', { fault: 'service' });
    const { maxRunning, maxQueued } = this.#limits;
    // Checked as a sum: runs may stay queued until a later event-loop slice although slots are free.
    if (this.#running.size + this.#queue.size < maxRunning + maxQueued) return;
    throw queueFull(`the queue is full (${this.#queue.size} runs are waiting)`);
  }

  /**
   * Call once the memory size of the run is known. A run larger than the limit is admitted when it would be alone.
   *
   * @throws WavetrainError `queue_full`
   */
  checkMemory(bytes: number): void {
    if (this.#bytes === 0 || this.#bytes + bytes <= (this.#limits.maxBytes ?? Number.POSITIVE_INFINITY))
      return;
    throw queueFull('queued and running runs already use all the memory they may use');
  }

  /** Queues the run and starts it as soon as a slot is free. */
  admit(entry: RunEntry): void {
    this.#bytes += entry.admittedBytes;
    this.#queue.add(entry.run.tenantId, entry);
    this.#startQueued();
  }

  /** Frees the slot or the queue position of a settled run, whether it ever started or not. */
  release(entry: RunEntry): void {
    this.#bytes -= entry.admittedBytes;
    if (this.#running.delete(entry)) this.#startQueued();
    else this.#queue.delete(entry.run.tenantId, entry);
  }

  /** Admits no more runs. Empties the queue and returns its runs and the running ones. */
  close(): { readonly queued: readonly RunEntry[]; readonly running: readonly RunEntry[] } {
    this.#closed = true;
    return { queued: this.#queue.clear(), running: [...this.#running] };
  }

  #startQueued(): void {
    if (this.#isFilling) return;
    this.#isFilling = true;
    while (this.#running.size < this.#limits.maxRunning && this.#queue.size > 0) {
      if (eventLoopBudget.exhausted()) {
        return eventLoopBudget.defer(() => {
          this.#isFilling = false;
          this.#startQueued();
        });
      }
      const next = this.#queue.next();
      if (next === undefined) break;
      this.#running.add(next);
      void next.run.begin();
    }
    this.#isFilling = false;
  }
}

function queueFull(why: string): WavetrainError {
  return new WavetrainError('queue_full', `${why}: try again later`, { fault: 'service' });
}

const yielding = new LinkedSet<() => void>();

/**
 * Resolves when the caller may use the event loop, which it shares with running runs. Of many concurrent callers one
 * continues in each slice, in the order of their calls, so that timers and other requests are served in between.
 */
export async function fairYield(): Promise<void> {
  if (yielding.size === 0 && !eventLoopBudget.exhausted()) return;
  await new Promise<void>((resolve) => {
    yielding.add(resolve);
    if (yielding.size === 1) setImmediate(resumeNext);
  });
}

function resumeNext(): void {
  const { first } = yielding;
  if (first === undefined) return;
  if (!eventLoopBudget.exhausted()) {
    yielding.delete(first);
    first();
  }
  if (yielding.size > 0) setImmediate(resumeNext);
}
