import type { ActorLogic, AnyActorRef, EventObject, NonReducibleUnknown, Snapshot } from 'xstate';
import type { TaskResult } from './types.js';

/**
 * Helpers of the hand-written actor logics (wave, task, fan-out, item, sub-runs).
 *
 * XState's machines copy their children at every spawn and stop, which is quadratic for a wide wave. These logics keep
 * their children in a Map and stay linear. In return they stop their children themselves, and change their snapshot in
 * place until it is final. They are never restored: a run is rebuilt from its definition and not from a snapshot.
 */

/** A hand-written actor logic. The alias keeps XState's unexported types out of the machines' declaration files. */
export type Logic<
  S extends Snapshot<unknown>,
  E extends EventObject,
  I extends NonReducibleUnknown,
> = ActorLogic<S, E, I>;

/** The states of a logic and what each event leads to, for whoever draws or watches the actors. A spec proves each of them. */
export interface LogicChart<State extends string, EventType extends string> {
  /** The event that leads to the first states. */
  readonly initial: Targets<State>;
  /** A final state takes no event. A type that ends in `*` stands for all that begin like it. */
  readonly states: Readonly<Record<State, 'final' | { readonly [type in EventType]?: Targets<State> }>>;
}

/** One state, or several with the condition of each, in words. A state that leads to itself stays as it is. */
type Targets<State extends string> = State | { readonly [state in State]?: string };

/** The event that XState sends to an actor that its parent stops; XState exports no constant for it. */
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

/** Reads the result of a child. A child outputs a TaskResult; one that ends in error has hit a bug of ours. */
export function toTaskResult(end: ChildEnd): TaskResult {
  if (end.type.startsWith('xstate.done.')) return end.output as TaskResult;
  const reason = end.error instanceof Error ? end.error.message : 'no reason given';
  return { ok: false, error: `internal error: ${reason}` };
}

/** Sends an event to the parent, which a snapshot does not hold: it would keep the parent as long as the snapshot. */
export function sendToParent(self: AnyActorRef, event: EventObject): void {
  // oxlint-disable-next-line no-underscore-dangle -- XState has no public name for the parent
  const parent = self._parent;
  // As XState does it for the actions of machines, so that an inspector sees who has sent the event.
  // oxlint-disable-next-line no-underscore-dangle -- XState has no public name for it
  if (parent !== undefined) (self.system as RelaySystem)._relay(self, parent, event);
}

type RelaySystem = AnyActorRef['system'] & {
  _relay(source: AnyActorRef, target: AnyActorRef, event: EventObject): void;
};

/** Snapshots of children, by id, in XState's own shape. */
type PersistedChildren = Record<string, { readonly snapshot: unknown; readonly src: string }>;

export function persistChildren(children: ReadonlyMap<string, AnyActorRef>): PersistedChildren {
  const persisted = [...children].map(([id, child]) => {
    const src = typeof child.src === 'string' ? child.src : child.id;
    return [id, { snapshot: child.getPersistedSnapshot(), src }] as const;
  });
  return Object.fromEntries(persisted);
}

/** Where the snapshots of machines and of these logics keep the actors at work. */
interface WithChildren {
  readonly children?: Readonly<Record<string, AnyActorRef>>;
  readonly live?: ReadonlyMap<string, AnyActorRef>;
  readonly fanOut?: AnyActorRef;
  readonly state?: { readonly actors: { readonly live: ReadonlyMap<string, AnyActorRef> } };
}

/** Iterates over an actor and those below it, parents first; some may end, and others start, meanwhile. */
export function* walkActors(root: AnyActorRef): Generator<AnyActorRef, void, undefined> {
  const waiting: Iterator<AnyActorRef>[] = [[root].values()];
  for (let top = waiting.at(-1); top !== undefined; top = waiting.at(-1)) {
    const { value: actor, done } = top.next();
    if (done === true) waiting.pop();
    else {
      yield actor;
      if (actor.getSnapshot().status === 'active') waiting.push(childrenOf(actor));
    }
  }
}

/** Iterates over the actors that an actor has at work. */
function* childrenOf(actor: AnyActorRef): Generator<AnyActorRef, void, undefined> {
  const { children, live, fanOut, state }: WithChildren = actor.getSnapshot();
  if (children !== undefined) yield* Object.values(children);
  if (live !== undefined) yield* live.values();
  if (fanOut !== undefined) yield fanOut;
  if (state !== undefined) yield* state.actors.live.values();
}
