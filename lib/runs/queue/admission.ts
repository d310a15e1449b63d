import { type Clock, toIsoTime } from '../../common/clock.js';
import { WavetrainError } from '../../common/errors.js';
import { PRIORITY_LIMITS } from '../../common/limits.js';
import { FairQueue } from '../../common/scheduling/fair-queue.js';
import { LinkedMap } from '../../common/memory/linked-map.js';
import { type Limit, SharedLimit, shareLimit } from '../../common/memory/shared-limit.js';
import { eventLoopBudget } from '../../execution/run/event-loop-budget.js';
import type { AnyRun } from '../../execution/local-executor.js';
import type { WaitingFor } from '../../common/wire/run-summary.js';
import type { ConcurrencyGroups } from './concurrency-groups.js';
import { LiveRunEntry, type RunEntry } from '../run-entry.js';
import type { RunQueueSchema } from '../../common/wire/run.js';
import type { Shape } from '../../common/wire/shape.js';

/** Limits on queued and running runs, which tenants share (D25). */
export interface AdmissionLimits {
  readonly maxRunning: number;
  readonly maxQueued: number;
  /** Percentage of both that each tenant may use even when others have used up the rest. Default 0. */
  readonly tenantShare?: number;
}

/** The queued runs of some tenants (D35). */
export interface RunQueue extends Shape<typeof RunQueueSchema> {}

export const UNLIMITED_ADMISSION: AdmissionLimits = { maxRunning: Number.POSITIVE_INFINITY, maxQueued: 0 };

/** How long handlers have at least when the server ends, after the tasks were stopped. */
const HANDLERS_GRACE_MS = 1000;

/**
 * Starts queued runs as slots become free, and rejects submissions beyond the limits (D25). Runs with breakpoints may pause for
 * an hour: they have half of the slots at most (D42), and wait for that half before they wait for a slot.
 */
export class Admission {
  /** Runs of definitions with `max_running` wait here before they wait for anything else (D81). */
  readonly groups: ConcurrencyGroups;
  /** Queued and running runs together: runs may stay queued until a later event-loop slice although slots are free. */
  readonly #places: SharedLimit;
  readonly #slots: SharedLimit;
  readonly #queue = new FairQueue<LiveRunEntry>();
  /** Half of the slots, and of what each tenant is guaranteed of them. */
  readonly #pausable: SharedLimit;
  /** The runs with breakpoints that take part of that half: they have a slot, or wait for one. */
  readonly #pausableRuns = new Set<LiveRunEntry>();
  /** The runs with breakpoints that wait for part of that half. */
  readonly #pausableQueue = new FairQueue<LiveRunEntry>();
  readonly #running = new LinkedMap<string, LiveRunEntry>();
  /**
   * Tenants whose queue of an earlier process is not restored yet: new runs are held back behind that queue (D68). True for
   * those of which restored runs wait, too: one with a higher priority may come (D81).
   */
  readonly #incomplete = new Map<string, boolean>();
  readonly #restored = new FairQueue<LiveRunEntry>();
  readonly #heldBack = new FairQueue<LiveRunEntry>();
  #closed = false;
  #isStarting = false;
  /** The tenants whose next run starts in a later slice of the event loop. */
  readonly #startingLater = new Set<string>();

  constructor({ maxRunning, maxQueued, tenantShare = 0 }: AdmissionLimits, groups: ConcurrencyGroups) {
    this.groups = groups;
    this.#places = new SharedLimit(shareLimit(maxRunning + maxQueued, tenantShare));
    const slots = shareLimit(maxRunning, tenantShare);
    this.#slots = new SharedLimit(slots);
    this.#pausable = new SharedLimit(halve(slots));
  }

  get load(): { readonly queued: number; readonly running: number } {
    return { queued: this.#queued, running: this.#running.size };
  }

  get #queued(): number {
    return this.#queues.reduce((sum, { size }) => sum + size, this.groups.waitingOf(undefined));
  }

  /** The runs that have a slot. */
  get running(): Iterable<LiveRunEntry> {
    return this.#running;
  }

  /** How many runs of some tenants wait, and what for. @param tenants undefined for all of them */
  queueOf(tenants: readonly string[] | undefined): RunQueue {
    if (tenants === undefined) {
      const waitsForSlot = this.#queue.size > 0 && this.#slots.isFull;
      const sizes = {
        slot: this.#queue.size,
        breakpoints: this.#pausableQueue.size,
        group: this.groups.waitingOf(undefined),
        restart: this.#restored.size + this.#heldBack.size,
      };
      return describeQueue(sizes, waitsForSlot ? 'server' : null);
    }
    const asked = [...new Set(tenants)];
    const sizes = {
      slot: sumSizes(this.#queue, asked),
      breakpoints: sumSizes(this.#pausableQueue, asked),
      group: this.groups.waitingOf(asked),
      restart: sumSizes(this.#restored, asked) + sumSizes(this.#heldBack, asked),
    };
    const held = asked.filter(
      (tenantId) => this.#queue.sizeOf(tenantId) > 0 && !this.#slots.hasRoom(tenantId),
    );
    if (held.length === 0) return describeQueue(sizes, null);
    const haveShares = held.every((tenantId) => this.#slots.hasUsedShare(tenantId));
    return describeQueue(sizes, haveShares ? 'tenant' : 'server');
  }

  /** Returns the wait of a run, or of a call of it; null when nothing of it waits, or it is about to start. */
  waitOf(entry: RunEntry): WaitingFor | null {
    if (!(entry instanceof LiveRunEntry)) return null;
    const { id, createdAt, isSettled, waitingFor } = entry.run;
    if (isSettled) return null;
    if (this.#running.has(id)) return waitingFor;
    const wait = this.groups.waitOf(entry) ?? this.#slotWaitOf(entry);
    return wait && { ...wait, since: toIsoTime(createdAt) };
  }

  #slotWaitOf(entry: LiveRunEntry): Omit<WaitingFor, 'since'> | null {
    const { tenantId } = entry.run;
    if (this.#pausableQueue.has(tenantId, entry)) return { reason: 'breakpoints' };
    if ([this.#restored, this.#heldBack].some((queue) => queue.has(tenantId, entry)))
      return { reason: 'restart' };
    if (!this.#queue.has(tenantId, entry) || this.#slots.hasRoom(tenantId)) return null;
    return { reason: this.#slots.hasUsedShare(tenantId) ? 'tenant' : 'server' };
  }

  /** Changes, as JSON does, whenever what a run of these tenants waits for does, unless one of their runs begins or settles. */
  versionOf(tenants: readonly string[] | undefined): unknown {
    const held = tenants?.map((tenantId) =>
      this.#queue.sizeOf(tenantId) === 0 ? null : this.#slots.hasRoom(tenantId),
    );
    const sizes = this.#queues.map((queue) =>
      tenants === undefined ? queue.size : sumSizes(queue, tenants),
    );
    return [sizes, this.groups.waitingOf(tenants), held ?? this.#slots.isFull];
  }

  /**
   * Holds new runs of a tenant back until `releaseHeld` is called: the runs of an earlier process come first.
   *
   * @param havePriorities holds those of the earlier process back, too, unless they have begun: they begin in another order
   */
  awaitRestored(tenantId: string, havePriorities: boolean): void {
    this.#incomplete.set(tenantId, havePriorities);
  }

  releaseHeld(tenantId: string): void {
    if (!this.#incomplete.delete(tenantId)) return;
    // All of them wait in one queue before the first begins.
    this.#isStarting = true;
    for (const held of [this.#restored, this.#heldBack]) {
      for (let next = held.nextOf(tenantId); next !== undefined; next = held.nextOf(tenantId))
        this.#admit(next);
    }
    this.#isStarting = false;
    this.#startQueued();
  }

  /** Call before a run is created. @throws WavetrainError `queue_full` or `shutting_down` */
  checkCapacity(tenantId: string): void {
    if (this.#closed)
      throw new WavetrainError('shutting_down', 'the server is shutting down', { fault: 'service' });
    if (this.#places.hasRoom(tenantId)) return;
    throw new WavetrainError(
      'queue_full',
      `the queue is full: ${this.#queued} runs wait, and tenant "${tenantId}" has ${this.#places.usedBy(tenantId)} ` +
        'queued or running: try again when some have ended',
      { fault: 'service' },
    );
  }

  /** Starts the run, or queues it until a slot is free. @param isRestored an earlier process has accepted it */
  admit(entry: LiveRunEntry, isRestored = false): void {
    const { tenantId } = entry.run;
    // A run that an earlier process has accepted, under other limits, has a place in any case.
    this.#places.acquire(tenantId);
    const held = this.#heldBy(entry, isRestored);
    if (held === undefined) return this.#admit(entry);
    held.add(tenantId, entry, entry.run.priority);
    entry.run.park();
  }

  /** The queue in which a run waits until others of its tenant are restored; undefined when it does not. */
  #heldBy({ run }: LiveRunEntry, isRestored: boolean): FairQueue<LiveRunEntry> | undefined {
    const havePriorities = this.#incomplete.get(run.tenantId);
    if (havePriorities === undefined) return undefined;
    if (!isRestored) return this.#heldBack;
    return havePriorities && !run.hasBegun ? this.#restored : undefined;
  }

  #admit(entry: LiveRunEntry): void {
    if (this.groups.enter(entry)) this.#admitOfGroup(entry);
    else entry.run.park();
  }

  #admitOfGroup(entry: LiveRunEntry): void {
    if (entry.run.mayPause && !this.#admitPausable(entry)) {
      this.#pausableQueue.add(entry.run.tenantId, entry, entry.run.priority);
      return entry.run.park();
    }
    this.#startOrQueue(entry);
  }

  /** Gives a run with breakpoints part of their half, if there is room. A run that has begun had a slot before. */
  #admitPausable(entry: LiveRunEntry): boolean {
    const { tenantId, hasBegun } = entry.run;
    if (!hasBegun && !this.#pausable.hasRoom(tenantId)) return false;
    this.#pausable.acquire(tenantId);
    this.#pausableRuns.add(entry);
    return true;
  }

  #startOrQueue(entry: LiveRunEntry): void {
    const { tenantId } = entry.run;
    const isFree = this.#queue.size === 0 && this.#slots.hasRoom(tenantId);
    if (isFree && !this.#isStarting && !eventLoopBudget.exhausted()) return this.#start(entry);
    this.#queue.add(tenantId, entry, toPlace(entry));
    this.#startQueued();
    // A run that is about to work needs more memory than one that waits.
    if (!this.#running.has(entry.run.id)) entry.run.park();
  }

  /** Starts a run that another process had begun, whether or not a slot is free: until then it cannot be cancelled. */
  startBegun(entry: LiveRunEntry): void {
    const { run } = entry;
    if (run.hasBegun && this.#queue.delete(run.tenantId, entry)) this.#start(entry);
  }

  /** Frees the slot or the queue position of a settled run, whether it ever started or not. */
  release(entry: LiveRunEntry): void {
    const { tenantId } = entry.run;
    this.#places.release(tenantId);
    if (this.#running.delete(entry.run.id)) this.#slots.release(tenantId);
    else for (const queue of this.#queues) queue.delete(tenantId, entry);
    if (this.#pausableRuns.delete(entry)) {
      this.#pausable.release(tenantId);
      this.#queuePausable();
    }
    for (const next of this.groups.leave(entry)) this.#admitOfGroup(next);
    this.#startQueued();
  }

  /** The queues in which runs wait for whatever it is. */
  get #queues(): readonly FairQueue<LiveRunEntry>[] {
    return [this.#queue, this.#pausableQueue, this.#restored, this.#heldBack];
  }

  /** Lets runs with breakpoints wait for a slot as far as their half has room, tenants in turn. */
  #queuePausable(): void {
    while (this.#pausableQueue.size > 0 && !this.#pausable.isExhausted) {
      const next = this.#pausableQueue.next((tenantId) => this.#pausable.hasRoom(tenantId));
      if (next === undefined) return;
      this.#admitPausable(next);
      this.#queue.add(next.run.tenantId, next, toPlace(next));
    }
  }

  /**
   * Admits no more runs, ends those that are queued or paused, and after `graceMs` those that are still running, by force.
   * Resolves when no run is at work.
   */
  async drain(graceMs: number, clock: Clock, end: (run: AnyRun, force: boolean) => void): Promise<void> {
    this.#closed = true;
    const running = [...this.#running];
    const waiting = [...this.#queues.flatMap((queue) => queue.clear()), ...this.groups.clear()];
    for (const { run } of waiting) end(run, false);
    for (const { run } of running) if (run.isPaused) end(run, false);
    let timer: unknown;
    // Handlers that begin after the first time end with the second one (D80).
    const endAfter = (ms: number): void => {
      timer = clock.setTimeout(() => {
        for (const { run } of running) if (!run.isSettled) end(run, true);
        endAfter(Math.max(graceMs, HANDLERS_GRACE_MS));
      }, ms);
    };
    endAfter(graceMs);
    await Promise.all(running.map(({ run }) => run.settled));
    clock.clearTimeout(timer);
  }

  /** Starts queued runs while slots are free, tenants in turn. Once the slice is over, tenants start theirs in later ones. */
  #startQueued(): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    while (this.#queue.size > 0 && !this.#slots.isExhausted) {
      const tenantId = this.#queue.nextTenant(
        (id) => !this.#startingLater.has(id) && this.#slots.hasRoom(id),
      );
      if (tenantId === undefined) break;
      if (!eventLoopBudget.exhausted()) this.#startNextOf(tenantId);
      // More tenants than slots would look at each other, tenant by tenant, and start nothing.
      else if (this.#startingLater.size < this.#slots.room) this.#startLater(tenantId);
      else break;
    }
    this.#isStarting = false;
  }

  #startLater(tenantId: string): void {
    this.#startingLater.add(tenantId);
    eventLoopBudget.forTenant(tenantId).defer(() => {
      this.#startingLater.delete(tenantId);
      if (this.#slots.hasRoom(tenantId)) this.#startNextOf(tenantId);
      this.#startQueued();
    });
  }

  #startNextOf(tenantId: string): void {
    const next = this.#queue.nextOf(tenantId);
    if (next !== undefined) this.#start(next);
  }

  #start(entry: LiveRunEntry): void {
    const { run } = entry;
    this.#slots.acquire(run.tenantId);
    this.#running.add(run.id, entry);
    void run.begin();
  }
}

/** How many runs wait for what. */
interface QueueSizes {
  readonly slot: number;
  readonly breakpoints: number;
  readonly group: number;
  readonly restart: number;
}

/** @param reason why those wait that wait for a slot */
function describeQueue(
  { slot, breakpoints, group, restart }: QueueSizes,
  reason: RunQueue['waits_for'],
): RunQueue {
  const others = breakpoints > 0 ? 'breakpoints' : group > 0 ? 'max_running' : restart > 0 ? 'restart' : null;
  return { queued: slot + breakpoints + group + restart, waits_for: reason ?? others };
}

/** The priority of a run among those of its tenant that wait for a slot: what has begun goes on before anything else begins. */
function toPlace({ run }: LiveRunEntry): number {
  return run.hasBegun ? PRIORITY_LIMITS.highest + 1 : run.priority;
}

/** Rounded up, so that there is one at least. */
function halve({ total, guaranteed = 0 }: Limit): Limit {
  return { total: Math.ceil(total / 2), guaranteed: Math.ceil(guaranteed / 2) };
}

function sumSizes(queue: FairQueue<LiveRunEntry>, tenants: readonly string[]): number {
  return tenants.reduce((sum, tenantId) => sum + queue.sizeOf(tenantId), 0);
}
