import {
  type ActorRef,
  type AnyActor,
  type AnyActorRef,
  type AnyMachineSnapshot,
  createActor,
  type EventObject,
} from 'xstate';
import type { Logic } from '../logic.js';

/** Detaches the last snapshot of an ended machine from its actors, whose mailboxes and system take more memory than it. */
export function detachSnapshot<S extends AnyMachineSnapshot>(snapshot: S): S {
  const children: Record<string, EndedChild> = {};
  for (const [id, child] of Object.entries<AnyActorRef>(snapshot.children)) {
    children[id] = new EndedChild(child as AnyActor);
  }
  return { ...snapshot, children };
}

/** Creates an actor that has ended with this snapshot, for those who read it through the API of XState. */
export function createEndedActor<S extends AnyMachineSnapshot, E extends EventObject>(
  snapshot: S,
): ActorRef<S, E> {
  const logic: Logic<S, E, undefined> = {
    getInitialSnapshot: () => snapshot,
    transition: () => snapshot,
    getPersistedSnapshot: () => snapshot.machine.getPersistedSnapshot(snapshot),
  };
  return createActor(logic).start();
}

/** A child that has ended: the part of an actor that XState reads when it persists a snapshot or writes it as JSON. */
class EndedChild {
  readonly id: string;
  readonly src: unknown;
  readonly systemId: string | undefined;
  // oxlint-disable-next-line no-underscore-dangle -- the name that XState reads
  readonly _syncSnapshot = false;
  readonly #logic: AnyActor['logic'];
  readonly #snapshot: unknown;

  constructor(child: AnyActor) {
    this.id = child.id;
    this.src = child.src;
    this.systemId = child.systemId;
    this.#logic = child.logic;
    this.#snapshot = child.getSnapshot();
  }

  getSnapshot(): unknown {
    return this.#snapshot;
  }

  getPersistedSnapshot(): unknown {
    return this.#logic.getPersistedSnapshot(this.#snapshot);
  }

  toJSON(): unknown {
    return { xstate$$type: 1, id: this.id };
  }
}
