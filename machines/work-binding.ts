import type { AnyActorRef } from 'xstate';
import type { Work } from './types.js';

// Bound to the run's actor and kept out of inputs and machine context, so that every snapshot stays plain JSON.
const bindings = new WeakMap<object, Work>();

/** Gives a run its work. To be done between creating its actor and starting it. */
export function bindWork(run: object, work: Work): void {
  bindings.set(run, work);
}

/** The work of the run that an actor belongs to: that of the nearest one above it. */
export function workOf(actor: AnyActorRef): Work {
  // oxlint-disable-next-line no-underscore-dangle -- XState has no other word for the actor above
  for (let above: AnyActorRef | undefined = actor; above !== undefined; above = above._parent) {
    const work = bindings.get(above);
    if (work !== undefined) return work;
  }
  throw new Error('no work is bound to the run of this actor');
}
