import { type ActorRefFrom, type AnyActorRef, createActor } from 'xstate';
import { chunkLogic } from './chunk.js';
import { itemLogic } from './item.js';
import type { Settlement } from './vocabulary.js';

/** Up to this many items, each is an actor; above, {@link CHUNK} neighbours share one. */
export const ITEM_ACTORS = 256;
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
