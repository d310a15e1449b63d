import type { AnyActorRef } from 'xstate';
import type { TaskResult } from './types.js';

/** The ports of a run's machines. Law L1: a machine knows when, never what. No member throws, whatever a tool does. */
export interface RunPorts {
  readonly eventLoopBudget: EventLoopBudget;
  /** Starts a task and returns how many invocations it makes, or how the task ends without any. */
  expand(taskId: string): { readonly ok: true; readonly value: Expansion } | TaskResult;
  /** Runs one invocation with all its attempts, and reports to its slot. */
  invoke(taskId: string, item: number | undefined, slot: Slot): Abortable;
  /** Makes the outcome of a task visible to later waves; the task settles with what `onPublished` receives. May be aborted. */
  publish(taskId: string, result: TaskResult, onPublished: (result: TaskResult) => void): Abortable;
}

/** Lets machines work in slices, so that neither a wide wave nor a long fan-out blocks the event loop. */
export interface EventLoopBudget {
  /** Returns true when the current slice is used up. */
  exhausted(): boolean;
  /** Calls `next` later, when the runs of other tenants have had their turn. */
  defer(next: () => void): void;
}

/** The invocations of a task when its wave starts: one invocation, or one for each of `items` (rule 7). */
export interface Expansion {
  /** Number of items of the fan-out; undefined for a task that calls its tool once. */
  readonly items: number | undefined;
  /** Maximum number of items in flight; `Infinity` when unlimited. */
  readonly concurrency: number;
}

/** The slot of an invocation in flight. One that waits for a retry frees it, and asks again when the delay is over (D18). */
export interface Slot {
  settle(result: TaskResult): void;
  wait(): void;
  resume(attempt: () => void): void;
}

/** An invocation or a publication that may be ended early; an invocation then aborts its tool, and settles as failed. */
export interface Abortable {
  abort(): void;
}

/** Binds ports to a root actor, as a property outside of its JSON. A WeakMap would keep runs until a full garbage collection. */
export class PortBinding<P extends object> {
  readonly #property = Symbol('ports');

  /** Must be called after the actor is created and before it starts. */
  bind(actor: object, ports: P): void {
    (actor as Bound<P>)[this.#property] = ports;
  }

  /** Call when the actor has ended: V8 keeps most until the next full garbage collection, with all that they refer to. */
  release(actor: object): void {
    (actor as Bound<P>)[this.#property] = undefined;
  }

  /** Finds the ports bound to the actor or to its nearest ancestor. @throws Error when there are none */
  find(actor: AnyActorRef): P {
    // oxlint-disable-next-line no-underscore-dangle -- XState has no public name for the parent
    for (let at: AnyActorRef | undefined = actor; at !== undefined; at = at._parent) {
      const ports = (at as unknown as Bound<P>)[this.#property];
      if (ports !== undefined) return ports;
    }
    throw new Error('no ports are bound to this actor');
  }
}

type Bound<P> = Record<symbol, P | undefined>;

export const runPorts = new PortBinding<RunPorts>();
