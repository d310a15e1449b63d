import type { ActorLogic, ActorScope, AnyActorRef, EventObject, NonReducibleUnknown, Snapshot } from 'xstate';
import type { Settlement } from './types.js';

/**
 * What the hand-written actors share. XState's own machines copy their children at every spawn and stop, which is
 * quadratic for a wide wave; these keep their children in a Map of their own, and are linear. In return they stop
 * their children themselves, and a snapshot is changed in place until it is final.
 */

/** Sent by XState to an actor that is stopped from above; XState exports no constant for it. */
export const STOP = 'xstate.stop';

/** The last event of a child, as XState delivers it. */
export interface ChildEnd {
  readonly type: `xstate.done.actor.${string}` | `xstate.error.actor.${string}`;
  readonly actorId: string;
  readonly output?: unknown;
  readonly error?: unknown;
}

export function isChildEnd(event: EventObject | ChildEnd): event is ChildEnd {
  return 'actorId' in event;
}

/** How a child settled. Children end with a settlement; one that ends in error has met a fault of ours. */
export function settlementOf(end: ChildEnd): Settlement {
  if (end.type.startsWith('xstate.done.')) return end.output as Settlement;
  const reason = end.error instanceof Error ? end.error.message : 'no reason given';
  return { ok: false, error: `internal error: ${reason}` };
}

/** Snapshots of children, by id, in the shape that XState gives its own. */
type PersistedChildren = Record<string, { readonly snapshot: unknown; readonly src: string }>;

export function persistChildren(children: ReadonlyMap<string, AnyActorRef>): PersistedChildren {
  return Object.fromEntries([...children].map(([id, child]) => [id, persistChild(child)]));
}

function persistChild(child: AnyActorRef): PersistedChildren[string] {
  const src = typeof child.src === 'string' ? child.src : child.id;
  return { snapshot: child.getPersistedSnapshot(), src };
}

export type Scope<S extends Snapshot<unknown>, E extends EventObject> = ActorScope<S, E>;

/** An actor logic of ours: it is never restored, since a run is rebuilt from facts and not from a snapshot. */
export type Logic<
  S extends Snapshot<unknown>,
  E extends EventObject,
  I extends NonReducibleUnknown,
> = ActorLogic<S, E, I>;
