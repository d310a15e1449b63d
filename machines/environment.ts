import type { ActorSystem } from 'xstate';
import type { Work } from './vocabulary.js';

// Bound to the actor system and kept out of inputs and machine context, so that every snapshot stays plain JSON.
const bindings = new WeakMap<object, Work>();

type AnySystem = ActorSystem<{ actors: Record<string, never> }> | object;

/** Gives the actors of one system their work. To be done between creating the root actor and starting it. */
export function bindWork(system: AnySystem, work: Work): void {
  bindings.set(system, work);
}

export function workOf(system: AnySystem): Work {
  const work = bindings.get(system);
  if (work === undefined) throw new Error('no work is bound to this actor system');
  return work;
}
