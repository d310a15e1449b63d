import type { AnyActorRef } from 'xstate';
import { type ItemActors, itemActors } from './item-actors.js';
import type { Abort, Place, Settlement, Work } from './types.js';

const STARTS_BETWEEN_LOOKS_AT_THE_TIME = 64;

/** How the books reach the fan-out they are kept for. */
interface FanOut {
  /** Come back in a later turn of the event loop. */
  proceed(): void;
  settle(settlement: Settlement): void;
}

/** The books of one fan-out: what is next, in flight, waiting to come back, settled. */
export class Items {
  readonly actors: ItemActors;
  readonly #task: { readonly taskId: string; readonly items: number; readonly concurrency: number };
  readonly #work: Work;
  readonly #fanOut: FanOut;
  readonly #aborts = new Map<number, Abort>();
  readonly #returning = new Queue<Retry>();
  #next = 0;
  #inFlight = 0;
  #unsettled = 0;
  #failed = 0;
  #firstError: string | undefined;
  #aborted = false;
  #state: 'idle' | 'filling places' | 'paused' | 'ended' = 'idle';
  #startsUntilLook = STARTS_BETWEEN_LOOKS_AT_THE_TIME;

  constructor(
    task: { readonly taskId: string; readonly items: number; readonly concurrency: number },
    work: Work,
    parent: AnyActorRef,
    fanOut: FanOut,
  ) {
    this.#task = task;
    this.#work = work;
    this.#fanOut = fanOut;
    this.actors = itemActors(parent, task.items);
  }

  counts(): Record<string, number> {
    const settled = this.#next - this.#unsettled;
    return { items: this.#task.items, started: this.#next, settled, failed: this.#failed };
  }

  /** Begins, and goes on after a pause. */
  proceed(): void {
    if (this.#state === 'paused') this.#state = 'idle';
    this.#fillPlaces();
  }

  abort(): void {
    this.#aborted = true;
    this.#firstError ??= 'stopped by force';
    for (const abort of this.#aborts.values()) abort();
    this.#fillPlaces();
  }

  /** An item settled; a place that it held is free. */
  settled(item: number, settlement: Settlement, heldPlace: boolean): void {
    if (heldPlace) this.#inFlight--;
    this.#aborts.delete(item);
    this.#unsettled--;
    if (!settlement.ok) {
      this.#failed++;
      this.#firstError ??= settlement.error;
    }
    this.actors.settled(item, settlement);
    this.#fillPlaces();
  }

  /** An attempt failed and its retry waits: the place is free until it comes back (D18). */
  waits(item: number): void {
    this.#inFlight--;
    this.actors.waits(item);
    this.#fillPlaces();
  }

  returns(retry: Retry): void {
    this.#returning.push(retry);
    this.#fillPlaces();
  }

  /** Fills the free places, and ends the fan-out when nothing is left. Does nothing while it is under way. */
  #fillPlaces(): void {
    if (this.#state !== 'idle') return;
    this.#state = 'filling places';
    this.#state = this.#startWhatMayStart() ? 'paused' : 'idle';
    if (this.#state === 'paused') this.#work.pace.later(() => this.#fanOut.proceed());
    else if (this.#unsettled === 0) this.#end();
  }

  /** True when it stopped because the turn of the event loop is used up. */
  #startWhatMayStart(): boolean {
    while (this.#inFlight < this.#task.concurrency) {
      if (this.#isTimeUp()) return true;
      if (!this.#startOne()) return false;
    }
    return false;
  }

  /** Counts across calls: items that settle at once start one another, and no call would ever reach the count. */
  #isTimeUp(): boolean {
    if (--this.#startsUntilLook > 0) return false;
    this.#startsUntilLook = STARTS_BETWEEN_LOOKS_AT_THE_TIME;
    return this.#work.pace.overdue();
  }

  /** A retry that returns goes before a new item; after a failure no new item starts (D17). */
  #startOne(): boolean {
    const retry = this.#aborted ? undefined : this.#returning.shift();
    if (retry !== undefined) this.#startAgain(retry);
    else if (this.#next < this.#task.items && this.#firstError === undefined) this.#startNext();
    else return false;
    return true;
  }

  #startNext(): void {
    const item = this.#next++;
    this.#unsettled++;
    this.#inFlight++;
    this.actors.started(item);
    const place = new ItemPlace(this, item);
    const abort = this.#work.invoke(this.#task.taskId, item, place);
    if (place.settled) return;
    this.#aborts.set(item, abort);
    // The tool itself may have asked for the end while it started.
    if (this.#aborted) abort();
  }

  #startAgain({ place, attempt }: Retry): void {
    if (place.settled) return;
    this.#inFlight++;
    place.held = true;
    this.actors.resumes(place.item);
    attempt();
  }

  #end(): void {
    this.#state = 'ended';
    const error = this.#firstError;
    this.#fanOut.settle(error === undefined ? { ok: true } : { ok: false, error });
  }
}

/** The place of one item. */
class ItemPlace implements Place {
  held = true;
  settled = false;
  readonly item: number;
  readonly #items: Items;

  constructor(items: Items, item: number) {
    this.#items = items;
    this.item = item;
  }

  settle(settlement: Settlement): void {
    const { held } = this;
    this.settled = true;
    this.held = false;
    this.#items.settled(this.item, settlement, held);
  }

  wait(): void {
    this.held = false;
    this.#items.waits(this.item);
  }

  resume(attempt: () => void): void {
    this.#items.returns({ place: this, attempt });
  }
}

/** A retry whose delay is over and that wants its place again. */
interface Retry {
  readonly place: ItemPlace;
  readonly attempt: () => void;
}

/** First come, first served. A plain array's `shift` moves all that is behind the first. */
class Queue<T> {
  #waiting: T[] = [];
  #head = 0;

  push(value: T): void {
    this.#waiting.push(value);
  }

  shift(): T | undefined {
    const first = this.#waiting[this.#head++];
    if (this.#head >= this.#waiting.length) {
      this.#waiting = [];
      this.#head = 0;
    }
    return first;
  }
}
