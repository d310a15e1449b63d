import { Actor, type ActorRefFrom, type AnyActorRef, type EventObject, type Snapshot } from 'xstate';
import type { Logic } from '../logic.js';

/**
 * Makes a function that creates children of one kind. They are what `createActor(logic, { parent, id, src })` makes, for
 * half of the time: XState's actor copies its options, and on Node 20 each of them takes longer than the rest of the
 * actor. These have the parent as their only option, and read their id and their `src` from their logic.
 *
 * A spec compares both. From Node 22 on the difference is small, and `createActor` may take the place of this file.
 */
export function childrenOfKind<S extends Snapshot<unknown>, E extends EventObject>(
  logic: Logic<S, E, undefined>,
  src: string,
): (parent: AnyActorRef, id: string) => ActorRefFrom<Logic<S, E, undefined>> {
  class LogicOfChild {
    readonly id: string;

    constructor(id: string) {
      this.id = id;
    }
  }
  Object.assign(LogicOfChild.prototype, logic, { src });
  return (parent, id) => new ChildActor(new LogicOfChild(id) as unknown as ChildLogic<S, E>, { parent });
}

type ChildLogic<S extends Snapshot<unknown>, E extends EventObject> = Logic<S, E, undefined> & {
  readonly id: string;
  readonly src: string;
};

class ChildActor<S extends Snapshot<unknown>, E extends EventObject> extends Actor<ChildLogic<S, E>> {}

// TypeScript lets no class replace a property by an accessor. What the constructor of `Actor` assigns to them is ignored.
for (const name of ['id', 'src'] as const) {
  Object.defineProperty(ChildActor.prototype, name, {
    get(this: { readonly logic: Record<typeof name, string> }) {
      return this.logic[name];
    },
    set() {},
  });
}
