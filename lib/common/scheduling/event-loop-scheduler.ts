import { type Clock, systemClock } from '../clock.js';
import { eventLoopOverruns, type Place } from './event-loop-overruns.js';
import { EventLoopSlice, microtasksToSettle, sliceClock } from './event-loop-slice.js';

interface SchedulerOptions {
  /** A tenant that starts to wait may go before others until it has had as much more than it had lately. */
  readonly headStartMs: number;
  /** Begins the next slice. */
  readonly startLater: (serve: () => void) => void;
}

/** A tenant is there for so long after its last work. */
const THERE_MS = 250;

/** Callers whose tenant is not known, or not yet, such as readers of open pages: nobody rests for them. */
export const UNKNOWN_TENANT = '';

/** Tenants that work hard rest after so much work, or a step that takes longer, while another one asks for little. */
const REST_AFTER_MS = 4;

/** They rest for as long as they have worked, but no longer than this. */
const LONGEST_REST_MS = 20;

const NEXT_TURN: SchedulerOptions = { headStartMs: 50, startLater: setImmediate };

/** The scheduler forgets how much a tenant has had when the tenant has not worked for so long. */
const FORGOTTEN_AFTER_MS = 1000;

/** Work that waits, and the place of its overruns in the metrics; undefined when something else measures it. */
interface DeferredWork {
  readonly place: Place | undefined;
  readonly next: () => void;
}

/**
 * Shares the event loop between tenants. Work that waits here continues in the next turn of the event loop, for one slice
 * of time together; connections, timers and signals are served in between. The tenant that has had least of the event loop
 * lately continues first (D25), so that the few steps of small work pass the many steps of large one, however many tenants
 * work hard.
 *
 * In a server, those that work hard leave half of the time to a tenant that asks for little while it is there, whether it
 * needs that time or not: its next request would otherwise come in the middle of their work, and wait for that and for the
 * garbage collector several times. Tenants that all work hard have the event loop without a rest.
 */
export class EventLoopScheduler {
  readonly #slice: Pick<EventLoopSlice, 'isOver' | 'start'>;
  readonly #clock: Pick<Clock, 'monotonicNow'>;
  readonly #options: SchedulerOptions;
  readonly #tenants = new Map<string, TenantWork>();
  /** The tenants that have work waiting. */
  readonly #waiting: TenantWork[] = [];
  /** The least that any waiting tenant has had, when one was last served. */
  #leastMs = 0;
  /** The work that waits. */
  #size = 0;
  #sweepMs = 0;
  #isScheduled = false;
  /** Time of those that work hard since their last rest. */
  #sinceRestMs = 0;
  #isResting = false;
  #timer: Pick<Clock, 'setTimeout'> | undefined;

  constructor(
    slice: Pick<EventLoopSlice, 'isOver' | 'start'> = new EventLoopSlice(),
    clock: Pick<Clock, 'monotonicNow'> = sliceClock,
    options = NEXT_TURN,
  ) {
    this.#slice = slice;
    this.#clock = clock;
    this.#options = options;
  }

  /** True when the time of this turn of the event loop is used up. */
  get isOver(): boolean {
    return this.#slice.isOver;
  }

  /** True while work waits for a later turn of the event loop. */
  get hasWaitingWork(): boolean {
    return this.#size > 0;
  }

  /** Calls `next` later. The work of one tenant keeps its order. */
  defer(tenantId: string, place: Place | undefined, next: () => void): void {
    let tenant = this.#tenants.get(tenantId);
    if (tenant === undefined) this.#tenants.set(tenantId, (tenant = new TenantWork()));
    if (!tenant.isWaiting) {
      tenant.usedMs = Math.max(tenant.usedMs, this.#leastMs - this.#options.headStartMs);
      this.#waiting.push(tenant);
    }
    tenant.add({ place, next });
    this.#size++;
    if (!this.#isResting || this.#isLight(tenant)) this.#schedule();
  }

  /** Resolves later, like {@link defer}. */
  wait(tenantId: string, place?: Place): Promise<void> {
    return new Promise((resolve) => {
      this.defer(tenantId, place, resolve);
    });
  }

  /** Like `wait`, once the time of this turn is used up; undefined before. */
  waitWhenOver(tenantId: string, place?: Place): Promise<void> | undefined {
    return this.isOver ? this.wait(tenantId, place) : undefined;
  }

  /**
   * Lets tenants that work hard rest from now on, until the returned function is called. A process with one caller, such as
   * a command, would wait for nothing.
   *
   * @param timer ends each rest
   */
  allowRests(timer: Pick<Clock, 'setTimeout'> = systemClock): () => void {
    this.#timer = timer;
    return () => {
      this.#timer = undefined;
    };
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.startLater(() => void this.#continueDeferred());
  }

  async #continueDeferred(): Promise<void> {
    this.#slice.start();
    try {
      // Work that comes meanwhile continues in the next turn, after new connections and timers.
      for (let left = this.#size; left > 0; left--) {
        const tenant = this.#findNext();
        if (tenant === undefined) break;
        await this.#serve(tenant);
        if (this.#slice.isOver) break;
      }
    } finally {
      // A step that throws, which is a bug, must not keep all others waiting.
      this.#isScheduled = false;
      this.#rest();
      if (this.#findNext() !== undefined) this.#schedule();
      this.#forgetIdle();
    }
  }

  /** The waiting tenant that has had least; undefined when there is none, or when it rests. */
  #findNext(): TenantWork | undefined {
    const least = this.#findLeastServed();
    return least !== undefined && this.#isResting && !this.#isLight(least) ? undefined : least;
  }

  /** Looks at every waiting tenant, which takes less time than one step of any of them. */
  #findLeastServed(): TenantWork | undefined {
    let least: TenantWork | undefined;
    for (const tenant of this.#waiting) {
      if (least === undefined || tenant.usedMs < least.usedMs) least = tenant;
    }
    return least;
  }

  /** True for a tenant that has used up less than half of its head start. */
  #isLight({ usedMs }: TenantWork): boolean {
    return usedMs < this.#leastMs - this.#options.headStartMs / 2;
  }

  #rest(): void {
    if (this.#timer === undefined || this.#isResting || this.#sinceRestMs < REST_AFTER_MS) return;
    const ms = Math.min(this.#sinceRestMs, LONGEST_REST_MS);
    this.#sinceRestMs = 0;
    if (!this.#isLightOneThere()) return;
    this.#isResting = true;
    this.#timer.setTimeout(() => {
      this.#isResting = false;
      if (this.#waiting.length > 0) this.#schedule();
    }, ms);
  }

  #isLightOneThere(): boolean {
    const sinceMs = this.#clock.monotonicNow() - THERE_MS;
    for (const [tenantId, tenant] of this.#tenants) {
      const isThere = tenant.isWaiting || tenant.lastMs > sinceMs;
      if (isThere && tenantId !== UNKNOWN_TENANT && this.#isLight(tenant)) return true;
    }
    return false;
  }

  async #serve(tenant: TenantWork): Promise<void> {
    const work = tenant.take();
    if (work === undefined) return;
    const isLight = this.#isLight(tenant);
    this.#leastMs = Math.max(this.#leastMs, tenant.usedMs);
    this.#size--;
    if (!tenant.isWaiting) this.#waiting.splice(this.#waiting.indexOf(tenant), 1);
    const startMs = this.#clock.monotonicNow();
    const begun = eventLoopOverruns.begin();
    work.next();
    // Counts also the time of the promises that the work resolves, such as the results of the items that it has started.
    await microtasksToSettle();
    if (work.place !== undefined) eventLoopOverruns.end(work.place, begun);
    tenant.lastMs = this.#clock.monotonicNow();
    const ms = tenant.lastMs - startMs;
    tenant.usedMs += ms;
    if (!isLight) this.#sinceRestMs += ms;
  }

  #forgetIdle(): void {
    const now = this.#clock.monotonicNow();
    if (now < this.#sweepMs) return;
    this.#sweepMs = now + FORGOTTEN_AFTER_MS;
    for (const [tenantId, { isWaiting, lastMs }] of this.#tenants) {
      if (!isWaiting && now - lastMs >= FORGOTTEN_AFTER_MS) this.#tenants.delete(tenantId);
    }
  }
}

/** The work of one tenant that waits, first in, first out, and the time that the tenant has had. */
class TenantWork {
  usedMs = 0;
  /** When the tenant last worked. */
  lastMs = 0;
  #work: DeferredWork[] = [];
  #taken = 0;

  get isWaiting(): boolean {
    return this.#work.length > this.#taken;
  }

  add(work: DeferredWork): void {
    this.#work.push(work);
  }

  take(): DeferredWork | undefined {
    const work = this.#work[this.#taken++];
    if (2 * this.#taken >= this.#work.length) this.#dropTaken();
    return work;
  }

  /** Copies at most as much work as was taken since the last copy. */
  #dropTaken(): void {
    this.#work = this.#work.slice(this.#taken);
    this.#taken = 0;
  }
}

/** The scheduler of all runs, checks and requests of this process, which has one event loop. */
export const eventLoopScheduler = new EventLoopScheduler();

/** How long data that arrives from all servers together may hold the event loop in one turn of it. */
const INCOMING_SLICE_MS = 2;

/** How long data that has used up its slice waits for the next one: the turns in between belong to runs and requests. */
const INCOMING_REST_MS = 14;

/**
 * The scheduler of the answers of servers that tools and models ask. One packet may hold a thousand messages, and many
 * packets arrive in one turn. Each reader asks after a message whether the slice of this turn is over, and then waits for a
 * later one, for its tenant or for the server that all tenants share. Together they have an eighth of the time: as much as
 * the fastest models need, and no more than others can spare.
 */
export const incomingDataScheduler = new EventLoopScheduler(
  new EventLoopSlice(INCOMING_SLICE_MS),
  sliceClock,
  {
    headStartMs: INCOMING_SLICE_MS,
    startLater: (serve) => systemClock.setTimeout(serve, INCOMING_REST_MS),
  },
);
