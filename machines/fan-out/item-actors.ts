import { type ActorRefFrom, type AnyActorRef, createActor, type Snapshot } from 'xstate';
import { type Logic, type LogicChart, STOP } from '../logic.js';
import { type TaskResult, toEndState } from '../types.js';
import { childrenOfKind } from '../xstate/child-actor.js';

/** A fan-out of at most this many items has one actor per item; a larger one has one per {@link CHUNK_SIZE} items. */
const MAX_ITEM_ACTORS = 256;
const CHUNK_SIZE = 256;

/** Items that have failed and are named, of one chunk. */
export const MAX_NAMED_ITEMS = 100;

/** Actors that show the items of a fan-out to an inspector. They decide nothing. */
export interface ItemActors {
  /** Actors with items that have not settled, by id. */
  readonly live: ReadonlyMap<string, AnyActorRef>;
  start(item: number): void;
  wait(item: number): void;
  resume(item: number): void;
  settle(item: number, result: TaskResult): void;
}

export function createItemActors(parent: AnyActorRef, items: number): ItemActors {
  return items <= MAX_ITEM_ACTORS ? new SingleItems(parent) : new Chunks(parent, items);
}

class SingleItems implements ItemActors {
  readonly live = new Map<string, ActorRefFrom<typeof itemLogic>>();
  readonly #parent: AnyActorRef;

  constructor(parent: AnyActorRef) {
    this.#parent = parent;
  }

  start(item: number): void {
    const id = String(item);
    const actor = createItem(this.#parent, id);
    this.live.set(id, actor);
    actor.start();
  }

  wait(item: number): void {
    this.live.get(String(item))?.send({ type: 'item.waits' });
  }

  resume(item: number): void {
    this.live.get(String(item))?.send({ type: 'item.resumes' });
  }

  settle(item: number, result: TaskResult): void {
    const id = String(item);
    const actor = this.live.get(id);
    this.live.delete(id);
    actor?.send({ type: 'item.settled', result });
  }
}

/** One item of a small fan-out. Its id is the item's index. */
type ItemSnapshot = Snapshot<TaskResult> & {
  value: 'invoking' | 'waiting' | 'succeeded' | 'skipped' | 'failed' | 'stopped';
};

export type ItemMachineEvent =
  | { readonly type: 'item.waits' }
  | { readonly type: 'item.resumes' }
  | { readonly type: 'item.settled'; readonly result: TaskResult }
  | { readonly type: typeof STOP };

export const itemChart: LogicChart<ItemSnapshot['value'], ItemMachineEvent['type']> = {
  initial: 'invoking',
  states: {
    invoking: {
      'item.waits': 'waiting',
      'item.settled': { succeeded: 'ok', skipped: 'its condition does not hold', failed: 'not ok' },
      'xstate.stop': 'stopped',
    },
    waiting: { 'item.resumes': 'invoking', 'item.settled': 'failed', 'xstate.stop': 'stopped' },
    succeeded: 'final',
    skipped: 'final',
    failed: 'final',
    stopped: 'final',
  },
};

const itemLogic: Logic<ItemSnapshot, ItemMachineEvent, undefined> = {
  getInitialSnapshot: () => ({ status: 'active', output: undefined, error: undefined, value: 'invoking' }),

  transition(snapshot, event) {
    switch (event.type) {
      case 'item.waits':
        return { ...snapshot, value: 'waiting' };
      case 'item.resumes':
        return { ...snapshot, value: 'invoking' };
      case 'item.settled':
        return { status: 'done', output: event.result, error: undefined, value: toEndState(event.result) };
      case STOP:
        return { status: 'stopped', output: undefined, error: undefined, value: 'stopped' };
    }
  },

  getPersistedSnapshot: (snapshot) => snapshot,
};

const createItem = childrenOfKind(itemLogic, 'item');

class Chunks implements ItemActors {
  readonly live = new Map<string, ActorRefFrom<typeof chunkLogic>>();
  readonly #parent: AnyActorRef;
  readonly #items: number;
  /** The chunks with items that have not settled, by number; the first ones may be gone. */
  readonly #chunks: (ActorRefFrom<typeof chunkLogic> | undefined)[] = [];

  constructor(parent: AnyActorRef, items: number) {
    this.#parent = parent;
    this.#items = items;
  }

  start(item: number): void {
    const chunk = toChunk(item);
    // Items start in their order.
    if (chunk < this.#chunks.length) return;
    const from = chunk * CHUNK_SIZE;
    const input = { from, to: Math.min(from + CHUNK_SIZE, this.#items) };
    const id = toChunkId(chunk);
    const actor = createActor(chunkLogic, { parent: this.#parent, id, src: 'chunk', input });
    this.#chunks.push(actor);
    this.live.set(id, actor);
    actor.start();
  }

  // A chunk does not show which of its items wait.
  wait(): void {}
  resume(): void {}

  settle(item: number, result: TaskResult): void {
    const number = toChunk(item);
    const actor = this.#chunks[number];
    if (actor === undefined) return;
    const chunk = actor.getSnapshot();
    chunk.settled++;
    if (!result.ok) {
      chunk.failed++;
      if (chunk.failed_items.length < MAX_NAMED_ITEMS) {
        chunk.failed_items.push(item);
        actor.send({ type: 'item.failed', item, error: result.error });
      }
    }
    if (chunk.settled === chunk.to - chunk.from) {
      this.#chunks[number] = undefined;
      this.live.delete(actor.id);
      actor.send({ type: 'chunk.settled' });
    }
  }
}

/** One of the actors that show the items of a fan-out, and the items that it shows: from the first to that before `to`. */
interface ItemActor {
  readonly id: string;
  readonly src: 'item' | 'chunk';
  readonly from: number;
  readonly to: number;
}

/** Lists the actors that a fan-out of so many items has, from its start to its end. */
export function* itemActorsOf(items: number): Generator<ItemActor, void, undefined> {
  const isSmall = items <= MAX_ITEM_ACTORS;
  const size = isSmall ? 1 : CHUNK_SIZE;
  for (let from = 0; from < items; from += size) {
    const to = Math.min(from + size, items);
    yield isSmall
      ? { id: String(from), src: 'item', from, to }
      : { id: toChunkId(toChunk(from)), src: 'chunk', from, to };
  }
}

function toChunk(item: number): number {
  return Math.floor(item / CHUNK_SIZE);
}

function toChunkId(chunk: number): string {
  return `chunk-${chunk}`;
}

/** Consecutive items of a large fan-out: an actor for each would cost more than its work. The counters change in place. */
type ChunkSnapshot = Snapshot<undefined> & {
  value: 'invoking' | 'settled' | 'stopped';
  /** Index of the first item. */
  from: number;
  /** Index after the last item. */
  to: number;
  settled: number;
  failed: number;
  /** Indexes of the first ones that have failed. */
  readonly failed_items: number[];
};

type ChunkEvent =
  | { readonly type: 'item.failed'; readonly item: number; readonly error: string }
  | { readonly type: 'chunk.settled' }
  | { readonly type: typeof STOP };

export const chunkChart: LogicChart<ChunkSnapshot['value'], ChunkEvent['type']> = {
  initial: 'invoking',
  states: {
    invoking: { 'item.failed': 'invoking', 'chunk.settled': 'settled', 'xstate.stop': 'stopped' },
    settled: 'final',
    stopped: 'final',
  },
};

const chunkLogic: Logic<ChunkSnapshot, ChunkEvent, { readonly from: number; readonly to: number }> = {
  getInitialSnapshot: (_, { from, to }) => ({
    status: 'active',
    output: undefined,
    error: undefined,
    value: 'invoking',
    from,
    to,
    settled: 0,
    failed: 0,
    failed_items: [],
  }),

  transition(snapshot, event) {
    switch (event.type) {
      case 'item.failed':
        return snapshot;
      case 'chunk.settled':
        return { ...snapshot, status: 'done', output: undefined, error: undefined, value: 'settled' };
      case STOP:
        return { ...snapshot, status: 'stopped', output: undefined, error: undefined, value: 'stopped' };
    }
  },

  getPersistedSnapshot: (snapshot) => snapshot,
};
