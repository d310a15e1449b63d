import type { ActorLogic, ActorScope, AnyActorRef, EventObject, NonReducibleUnknown, Snapshot } from 'xstate';

/**
 * What the hand-written actors share. XState's own machines copy their children at every spawn and stop, which is
 * quadratic for a wide wave; these keep their children in a Map of their own, and are linear. In return they stop
 * their children themselves, and a snapshot is changed in place until it is final.
 */

/** Sent by XState to an actor that is stopped from above; XState exports no constant for it. */
export const STOP = 'xstate.stop';

/** The final event of a child, as XState delivers it. */
export interface ChildDone {
  readonly type: `xstate.done.actor.${string}`;
  readonly actorId: string;
  readonly output: unknown;
}

export function isChildDone(event: EventObject | ChildDone): event is ChildDone {
  return 'actorId' in event;
}

/** Snapshots of children, by id, in the shape that XState gives its own. */
export type PersistedChildren = Record<string, { readonly snapshot: unknown; readonly src: string }>;

export function persistChildren(children: ReadonlyMap<string, AnyActorRef>): PersistedChildren {
  const persisted: PersistedChildren = {};
  for (const [id, child] of children) {
    persisted[id] = {
      snapshot: child.getPersistedSnapshot(),
      src: typeof child.src === 'string' ? child.src : child.id,
    };
  }
  return persisted;
}

export type Scope<S extends Snapshot<unknown>, E extends EventObject> = ActorScope<S, E>;

/** An actor logic of ours: it is never restored, since a run is rebuilt from facts and not from a snapshot. */
export type Logic<
  S extends Snapshot<unknown>,
  E extends EventObject,
  I extends NonReducibleUnknown,
> = ActorLogic<S, E, I>;
