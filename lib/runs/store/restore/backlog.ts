import { LinkedMap } from '../../../common/memory/linked-map.js';
import type { LiveRunEntry } from '../../run-entry.js';
import type { StoredRunHead } from '../run-archive.js';
import { Deferred } from '../run-writer.js';

export class PendingRun {
  readonly head: StoredRunHead;
  /** Memory that the run needs, in bytes, once an attempt to restore the run has found too little. */
  neededBytes = 0;
  isStarted = false;
  #attempt: Deferred | undefined;

  constructor(head: StoredRunHead) {
    this.head = head;
  }

  /** Resolves after the next attempt to restore the run, or the one under way. */
  get attempted(): Promise<void> {
    this.#attempt ??= new Deferred();
    return this.#attempt.promise;
  }

  onAttempted(): void {
    this.#attempt?.resolve();
    this.#attempt = undefined;
  }
}

/** The runs of one tenant that are not restored yet. */
export class Backlog {
  readonly tenantId: string;
  /** Runs for which requests wait. */
  readonly asked = new LinkedMap<string, PendingRun>();
  /** Runs that have not settled, in the order in which they were accepted. */
  readonly open = new LinkedMap<string, PendingRun>();
  /** The newest first: the newest is the last to be evicted. */
  readonly settled = new LinkedMap<string, PendingRun>();
  readonly restoredSettled: LiveRunEntry[] = [];
  readonly rebuilds = new Set<Promise<void>>();
  /** Settled runs that no list has yet: those of `settled`, and of `rebuilds`. */
  migrating = 0;
  /** Not all of the open runs have the same priority as most runs: which one is next is known when all are restored. */
  hasPriorities = false;
  /** The next run waits for memory, and so do the runs behind it. */
  isBlocked = false;
  #complete: Deferred | undefined;
  #openComplete: Deferred | undefined;

  constructor(tenantId: string) {
    this.tenantId = tenantId;
  }

  get size(): number {
    return this.open.size + this.settled.size;
  }

  get next(): PendingRun | undefined {
    return this.asked.first ?? this.open.first ?? this.settled.first;
  }

  delete(runId: string): void {
    for (const runs of [this.asked, this.open, this.settled]) runs.delete(runId);
  }

  /** Resolves when all runs of the tenant are there, or wait for memory. */
  get complete(): Promise<void> {
    this.#complete ??= new Deferred();
    return this.#complete.promise;
  }

  /** Resolves when the runs of the tenant that have not settled are there, or wait for memory. */
  get openComplete(): Promise<void> {
    this.#openComplete ??= new Deferred();
    return this.#openComplete.promise;
  }

  onOpenComplete(): void {
    this.#openComplete?.resolve();
    this.#openComplete = undefined;
  }

  onComplete(): void {
    this.onOpenComplete();
    this.#complete?.resolve();
    this.#complete = undefined;
  }
}
