import type { AnyActorRef } from 'xstate';
import { createItemActors, type ItemActors } from './item-actors.js';
import type { Abortable, RunPorts, Slot } from '../ports.js';
import type { TaskResult } from '../types.js';

/** Items that start, or are aborted, before other runs continue, and before results of these items are handled. */
const STARTS_PER_TURN = 64;

export interface FanOutInput {
  readonly taskId: string;
  /** Number of items. */
  readonly items: number;
  /** Maximum number of items in flight. */
  readonly concurrency: number;
}

interface FanOutCallbacks {
  /** Must call `continue` in a later tick. */
  onContinue(): void;
  onSettled(result: TaskResult): void;
}

/** The state of one fan-out: which items are next, in flight, waiting for a slot, or settled. */
export class FanOutState {
  readonly actors: ItemActors;
  readonly #input: FanOutInput;
  readonly #ports: RunPorts;
  readonly #callbacks: FanOutCallbacks;
  readonly #atWork = new SlotList();
  readonly #retries = new Queue<Retry>();
  #next = 0;
  #inFlight = 0;
  #unsettled = 0;
  #failed = 0;
  /** Of the items that fail the fan-out. */
  #firstError: string | undefined;
  /** Of the items without which it goes on. */
  #firstCollected: string | undefined;
  #aborted = false;
  #phase: 'idle' | 'filling slots' | 'paused' | 'ended' = 'idle';
  #startsLeft = STARTS_PER_TURN;

  constructor(input: FanOutInput, ports: RunPorts, parent: AnyActorRef, callbacks: FanOutCallbacks) {
    this.#input = input;
    this.#ports = ports;
    this.#callbacks = callbacks;
    this.actors = createItemActors(parent, input.items);
  }

  counts(): Record<string, number> {
    const settled = this.#next - this.#unsettled;
    return { items: this.#input.items, started: this.#next, settled, failed: this.#failed };
  }

  /** Starts the first items, or continues after a pause. */
  continue(): void {
    if (this.#phase === 'paused') this.#phase = 'idle';
    this.#fillSlots();
  }

  /** Ends the items in flight: the first ones at once, the others in turns, because they may be thousands. */
  abort(): void {
    this.#aborted = true;
    this.#firstError ??= 'stopped by force';
    if (this.#phase === 'paused') this.#phase = 'idle';
    this.#fillSlots();
  }

  /** Ends all items in flight at once. */
  stop(): void {
    this.abort();
    for (let next = this.#atWork.takeFirst(); next; next = this.#atWork.takeFirst()) next.abort();
  }

  /** Records that the item of a slot has settled, and frees the slot if it was held. */
  settle(slot: ItemSlot, result: TaskResult, wasHeld: boolean): void {
    const { item } = slot;
    if (wasHeld) this.#inFlight--;
    this.#atWork.delete(slot);
    this.#unsettled--;
    if (!result.ok) {
      this.#failed++;
      if (result.collected) this.#firstCollected ??= result.error;
      else this.#firstError ??= result.error;
    }
    this.actors.settle(item, result);
    this.#fillSlots();
  }

  /** Records that an item waits for its retry: its slot is free meanwhile (D18). */
  wait(item: number): void {
    this.#inFlight--;
    this.actors.wait(item);
    this.#fillSlots();
  }

  /** Queues a retry whose delay is over. */
  resume(retry: Retry): void {
    this.#retries.push(retry);
    this.#fillSlots();
  }

  /** Fills the free slots, and ends the fan-out when nothing is left. Does nothing when called from within itself. */
  #fillSlots(): void {
    if (this.#phase !== 'idle') return;
    this.#phase = 'filling slots';
    this.#phase = this.#startItems() || this.#abortItems() ? 'paused' : 'idle';
    if (this.#phase === 'paused') this.#ports.eventLoopBudget.defer(() => this.#callbacks.onContinue());
    else if (this.#unsettled === 0) this.#end();
  }

  /** Returns true when it stopped because its turn is over. */
  #startItems(): boolean {
    while (this.#inFlight < this.#input.concurrency && this.#hasNext()) {
      if (this.#isTurnOver()) return true;
      this.#startOne();
    }
    return false;
  }

  /** Returns true when it stopped because its turn is over. */
  #abortItems(): boolean {
    if (!this.#aborted) return false;
    for (let count = 1; count <= STARTS_PER_TURN; count++) {
      // An item may take a while to end, and is not to be aborted again.
      const invocation = this.#atWork.takeFirst();
      if (invocation === undefined) return false;
      invocation.abort();
      if (this.#ports.eventLoopBudget.exhausted()) break;
    }
    return !this.#atWork.isEmpty;
  }

  /** After a failure no new item starts, but those that wait for a retry resume (D17). */
  #hasNext(): boolean {
    if (this.#firstError === undefined && this.#next < this.#input.items) return true;
    return !this.#aborted && !this.#retries.isEmpty;
  }

  /** Counts across calls: items that settle instantly start one another, so no single call would reach the count. */
  #isTurnOver(): boolean {
    const isFirst = this.#startsLeft === STARTS_PER_TURN;
    const isOver = this.#startsLeft === 0 || (!isFirst && this.#ports.eventLoopBudget.exhausted());
    this.#startsLeft = isOver ? STARTS_PER_TURN : this.#startsLeft - 1;
    return isOver;
  }

  /** Resumes a retry before it starts a new item (D18). */
  #startOne(): void {
    const retry = this.#aborted ? undefined : this.#retries.shift();
    if (retry !== undefined) this.#startRetry(retry);
    else this.#startNext();
  }

  #startNext(): void {
    const item = this.#next++;
    this.#unsettled++;
    this.#inFlight++;
    this.actors.start(item);
    const slot = new ItemSlot(this, item);
    const invocation = this.#ports.invoke(this.#input.taskId, item, slot);
    if (slot.settled) return;
    // The tool itself may have requested the abort while it started.
    if (this.#aborted) invocation.abort();
    else this.#atWork.add(slot, invocation);
  }

  #startRetry({ slot, attempt }: Retry): void {
    if (slot.settled) return;
    this.#inFlight++;
    slot.held = true;
    this.actors.resume(slot.item);
    attempt();
  }

  #end(): void {
    this.#phase = 'ended';
    const error = this.#firstError ?? this.#describeTotalFailure();
    this.#callbacks.onSettled(error === undefined ? { ok: true } : { ok: false, error });
  }

  /** The error of a fan-out that went on without every one of its items (D67). */
  #describeTotalFailure(): string | undefined {
    if (this.#firstCollected === undefined || this.#failed < this.#input.items) return undefined;
    return `no item succeeded: ${this.#firstCollected}`;
  }
}

/** The slot of one item. */
class ItemSlot implements Slot {
  held = true;
  settled = false;
  /** The invocation at work; undefined when there is none that could be aborted. */
  invocation: Abortable | undefined;
  /** The slots before and after this one in a {@link SlotList}. */
  previous: ItemSlot | undefined;
  next: ItemSlot | undefined;
  readonly item: number;
  readonly #state: FanOutState;

  constructor(state: FanOutState, item: number) {
    this.#state = state;
    this.item = item;
  }

  settle(result: TaskResult): void {
    const { held } = this;
    this.settled = true;
    this.held = false;
    this.#state.settle(this, result, held);
  }

  wait(): void {
    this.held = false;
    this.#state.wait(this.item);
  }

  resume(attempt: () => void): void {
    this.#state.resume({ slot: this, attempt });
  }
}

/** The slots whose invocations may be aborted, in the order in which they began. A map would take longer than the rest of a slot. */
class SlotList {
  #first: ItemSlot | undefined;
  #last: ItemSlot | undefined;

  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  add(slot: ItemSlot, invocation: Abortable): void {
    slot.invocation = invocation;
    slot.previous = this.#last;
    if (this.#last === undefined) this.#first = slot;
    else this.#last.next = slot;
    this.#last = slot;
  }

  /** Does nothing for a slot that is not in the list. */
  delete(slot: ItemSlot): void {
    if (slot.invocation === undefined) return;
    const { previous, next } = slot;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    slot.previous = slot.next = slot.invocation = undefined;
  }

  takeFirst(): Abortable | undefined {
    const slot = this.#first;
    const invocation = slot?.invocation;
    if (slot !== undefined) this.delete(slot);
    return invocation;
  }
}

/** A retry whose delay is over and that waits for a slot. */
interface Retry {
  readonly slot: ItemSlot;
  readonly attempt: () => void;
}

/** A first-in, first-out queue whose `shift` takes constant time, unlike an array's. */
class Queue<T> {
  #values: T[] = [];
  #head = 0;

  get isEmpty(): boolean {
    return this.#values.length === 0;
  }

  push(value: T): void {
    this.#values.push(value);
  }

  shift(): T | undefined {
    const first = this.#values[this.#head++];
    if (this.#head >= this.#values.length) {
      this.#values = [];
      this.#head = 0;
    }
    return first;
  }
}
