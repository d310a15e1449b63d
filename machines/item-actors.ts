import { type ActorRefFrom, type AnyActorRef, createActor, type Snapshot } from 'xstate';
import { type Logic, STOP } from './logic.js';
import type { Settlement } from './types.js';

/** Up to this many items, each is an actor; above, {@link CHUNK} neighbours share one. */
const ITEM_ACTORS = 256;
const CHUNK = 256;

/** How a fan-out shows its items to whoever watches the actors. */
export interface ItemActors {
  /** The actors of items that have not settled, by id. */
  readonly live: ReadonlyMap<string, AnyActorRef>;
  started(item: number): void;
  waits(item: number): void;
  resumes(item: number): void;
  settled(item: number, settlement: Settlement): void;
}

export function itemActors(parent: AnyActorRef, items: number): ItemActors {
  return items <= ITEM_ACTORS ? new SingleItems(parent) : new Chunks(parent, items);
}

class SingleItems implements ItemActors {
  readonly live = new Map<string, ActorRefFrom<typeof itemLogic>>();
  readonly #parent: AnyActorRef;

  constructor(parent: AnyActorRef) {
    this.#parent = parent;
  }

  started(item: number): void {
    const id = String(item);
    const actor = createActor(itemLogic, { parent: this.#parent, id, src: 'item' });
    this.live.set(id, actor);
    actor.start();
  }

  waits(item: number): void {
    this.live.get(String(item))?.send({ type: 'item.waits' });
  }

  resumes(item: number): void {
    this.live.get(String(item))?.send({ type: 'item.resumes' });
  }

  settled(item: number, settlement: Settlement): void {
    const id = String(item);
    const actor = this.live.get(id);
    this.live.delete(id);
    actor?.send({ type: 'item.settled', settlement });
  }
}

class Chunks implements ItemActors {
  readonly live = new Map<string, ActorRefFrom<typeof chunkLogic>>();
  readonly #parent: AnyActorRef;
  readonly #items: number;

  constructor(parent: AnyActorRef, items: number) {
    this.#parent = parent;
    this.#items = items;
  }

  started(item: number): void {
    const id = chunkId(item);
    if (this.live.has(id)) return;
    const from = item - (item % CHUNK);
    const input = { from, to: Math.min(from + CHUNK, this.#items) };
    const actor = createActor(chunkLogic, { parent: this.#parent, id, src: 'chunk', input });
    this.live.set(id, actor);
    actor.start();
  }

  // Which item of a chunk waits is not shown.
  waits(): void {}
  resumes(): void {}

  settled(item: number, settlement: Settlement): void {
    const id = chunkId(item);
    const actor = this.live.get(id);
    if (actor === undefined) return;
    const chunk = actor.getSnapshot();
    chunk.settled++;
    if (!settlement.ok) chunk.failed++;
    if (chunk.settled === chunk.to - chunk.from) {
      this.live.delete(id);
      actor.send({ type: 'chunk.settled' });
    }
  }
}

function chunkId(item: number): string {
  return `chunk-${Math.floor(item / CHUNK)}`;
}

/**
 * A run of neighbouring items of a large fan-out, as one actor: a hundred thousand actors would cost more than the
 * work they show. Its counters are kept by the fan-out above it.
 */
type ChunkSnapshot = Snapshot<undefined> & {
  value: 'invoking' | 'settled' | 'stopped';
  /** First item, and the one after the last. */
  from: number;
  to: number;
  settled: number;
  failed: number;
};

type ChunkEvent = { readonly type: 'chunk.settled' } | { readonly type: typeof STOP };

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
  }),

  transition(snapshot, event) {
    switch (event.type) {
      case 'chunk.settled':
        return { ...snapshot, status: 'done', output: undefined, error: undefined, value: 'settled' };
      case STOP:
        return { ...snapshot, status: 'stopped', output: undefined, error: undefined, value: 'stopped' };
    }
  },

  getPersistedSnapshot: (snapshot) => snapshot,
};

/**
 * One item of a small fan-out, as an actor, so that it can be watched. It only shows what happens: the fan-out
 * above it starts the invocation and is told first how it settled. Its id is the item's index.
 */
type ItemSnapshot = Snapshot<Settlement> & {
  value: 'invoking' | 'waiting' | 'succeeded' | 'failed' | 'stopped';
};

export type ItemEvent =
  | { readonly type: 'item.waits' }
  | { readonly type: 'item.resumes' }
  | { readonly type: 'item.settled'; readonly settlement: Settlement }
  | { readonly type: typeof STOP };

const itemLogic: Logic<ItemSnapshot, ItemEvent, undefined> = {
  getInitialSnapshot: () => ({ status: 'active', output: undefined, error: undefined, value: 'invoking' }),

  transition(snapshot, event) {
    switch (event.type) {
      case 'item.waits':
        return { ...snapshot, value: 'waiting' };
      case 'item.resumes':
        return { ...snapshot, value: 'invoking' };
      case 'item.settled': {
        const value = event.settlement.ok ? 'succeeded' : 'failed';
        return { status: 'done', output: event.settlement, error: undefined, value };
      }
      case STOP:
        return { status: 'stopped', output: undefined, error: undefined, value: 'stopped' };
    }
  },

  getPersistedSnapshot: (snapshot) => snapshot,
};
