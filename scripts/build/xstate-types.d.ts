/*
 * The types of XState that the declarations of the library name. Those of its main entry do not compile with
 * `exactOptionalPropertyTypes` (5.33), so that a project without `skipLibCheck` could not use ours; those of
 * `xstate/actors` do, and lead to the same actors and inspection events.
 */
import type { createEmptyActor } from 'xstate/actors';

declare global {
  interface SymbolConstructor {
    readonly observable: symbol;
  }
}

export type AnyActorRef = ReturnType<typeof createEmptyActor>;

export type InspectionEvent =
  Extract<Parameters<AnyActorRef['system']['inspect']>[0], (event: never) => unknown> extends (
    event: infer Event,
  ) => unknown
    ? Event
    : never;

export type NonReducibleUnknown = {} | null | undefined;

export interface EventObject {
  type: string;
}

export type MetaObject = Record<string, unknown>;

export type AnyTransitionDefinition = object;

export interface Snapshot<Output> {
  readonly status: 'active' | 'done' | 'error' | 'stopped';
  readonly output?: Output | undefined;
  readonly error?: unknown;
}

export interface AnyMachineSnapshot extends Snapshot<unknown> {
  readonly value: unknown;
  readonly context: unknown;
}

/** Snapshots and events of the actor are those of its logic. */
export type ActorRef<S, E, _Emitted = unknown> = Omit<AnyActorRef, 'getSnapshot' | 'send'> & {
  readonly getSnapshot: () => S;
  readonly send: (event: E) => void;
};

export interface ActorLogic<S, E, I> {
  readonly transition: (snapshot: S, event: E, ...rest: never) => S;
  readonly getInitialSnapshot: (scope: never, input: I) => S;
}

/** The names of its actors, actions, guards and delays are of no use outside. */
export interface StateMachine<Context, Event, _C, _A, _X, _G, _D, Value, _T, Input, Output, _E, _M, _K, _S>
  extends ActorLogic<Snapshot<Output> & { readonly value: Value; readonly context: Context }, Event, Input> {
  readonly id: string;
}

export interface AnyStateMachine {
  readonly id: string;
}

export type SnapshotFrom<Logic> = Logic extends { readonly transition: (...args: never) => infer S }
  ? S
  : never;

export type ActorRefFromLogic<Logic> =
  Logic extends ActorLogic<infer S, infer E, never> ? ActorRef<S, E> : never;

export type ActorRefFrom<Logic> = ActorRefFromLogic<Logic>;
