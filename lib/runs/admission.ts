import { WavetrainError } from '../common/errors.js';
import { processPace } from '../execution/event-loop-budget.js';
import type { Entry } from './entry.js';
import { Line } from './linked-set.js';
import type { AdmissionLimits } from './registry-options.js';

/** Who may run, and who waits (D25): the one place where runs begin and where their places become free. */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #queue = new FairQueue<Entry>();
  readonly #running = new Set<Entry>();
  /** What they take in memory, those who wait and those at work. */
  #bytes = 0;
  #closed = false;
  #isFilling = false;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  get queued(): number {
    return this.#queue.size;
  }

  get running(): number {
    return this.#running.size;
  }

  /**
   * To be asked before a run is made.
   *
   * @throws WavetrainError `queue_full` or `shutting_down`
   */
  check(): void {
    if (this.#closed)
      throw new WavetrainError('shutting_down', 'the server is shutting down', { fault: 'service' });
    const { maxRunning, maxQueued } = this.#limits;
    // Together: runs may wait for a later turn of the event loop though there are places for them.
    if (this.#running.size + this.#queue.size < maxRunning + maxQueued) return;
    throw queueFull(`${this.#queue.size} runs wait already`);
  }

  /**
   * To be asked when it is known what the run takes.
   *
   * @throws WavetrainError `queue_full`
   */
  weigh(bytes: number): void {
    if (this.#bytes === 0 || this.#bytes + bytes <= (this.#limits.bytes ?? Number.POSITIVE_INFINITY)) return;
    throw queueFull('the runs that are here already fill the memory');
  }

  /** Begins the run when there is a place for it. */
  admit(entry: Entry): void {
    this.#bytes += entry.admittedBytes;
    this.#queue.add(entry.tenantId, entry);
    this.#fill();
  }

  /** A run has settled, whether it ever ran or not. */
  release(entry: Entry): void {
    this.#bytes -= entry.admittedBytes;
    if (this.#running.delete(entry)) this.#fill();
    else this.#queue.delete(entry.tenantId, entry);
  }

  /** Lets nobody in any more; answers those who wait, and those who are at work. */
  close(): { readonly waiting: readonly Entry[]; readonly running: readonly Entry[] } {
    this.#closed = true;
    return { waiting: this.#queue.clear(), running: [...this.#running] };
  }

  #fill(): void {
    if (this.#isFilling) return;
    this.#isFilling = true;
    while (this.#running.size < this.#limits.maxRunning && this.#queue.size > 0) {
      if (processPace.overdue()) return this.#fillLater();
      const next = this.#queue.next();
      if (next === undefined) break;
      this.#running.add(next);
      void next.run.begin();
    }
    this.#isFilling = false;
  }

  #fillLater(): void {
    processPace.later(() => {
      this.#isFilling = false;
      this.#fill();
    });
  }
}

function queueFull(why: string): WavetrainError {
  return new WavetrainError('queue_full', `${why}: try again later`, { fault: 'service' });
}

/**
 * What waits, by tenant: each tenant's in the order in which it came, and the tenants in turn, so that nobody's
 * thousand keeps another's one waiting (D25). Every operation takes the same time however many wait.
 */
export class FairQueue<T> {
  readonly #waiting = new Map<string, Line<T>>();
  /** Tenants for whom something waits; the one whose turn it is stands first. */
  readonly #turns = new Line<string>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(tenantId: string, waiting: T): void {
    const line = this.#waiting.get(tenantId) ?? new Line<T>();
    if (!line.add(waiting)) return;
    this.#waiting.set(tenantId, line);
    this.#turns.add(tenantId);
    this.#size++;
  }

  /** Takes out who is next; undefined when nobody waits. */
  next(): T | undefined {
    const tenantId = this.#turns.first;
    if (tenantId === undefined) return undefined;
    const first = this.#waiting.get(tenantId)?.first;
    if (first === undefined) return undefined;
    this.delete(tenantId, first);
    this.#endTurn(tenantId);
    return first;
  }

  /** Takes one out before its turn. False when it was not waiting. */
  delete(tenantId: string, waiting: T): boolean {
    const line = this.#waiting.get(tenantId);
    if (!line?.delete(waiting)) return false;
    this.#size--;
    if (line.size === 0) {
      this.#waiting.delete(tenantId);
      this.#turns.delete(tenantId);
    }
    return true;
  }

  /** Takes everybody out. */
  clear(): T[] {
    const all = [...this.#waiting].flatMap(([tenantId, line]) => {
      this.#turns.delete(tenantId);
      return [...line];
    });
    this.#waiting.clear();
    this.#size = 0;
    return all;
  }

  #endTurn(tenantId: string): void {
    if (this.#turns.delete(tenantId) && this.#waiting.has(tenantId)) this.#turns.add(tenantId);
  }
}
