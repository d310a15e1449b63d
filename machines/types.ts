/**
 * The nouns the machines need, and the holes through which they reach the world.
 *
 * Law L1: a machine knows when, never what. Task ids, counts and settlements come in; values, templates,
 * tools, tenants and time stay outside, behind {@link Work}.
 */

/** The five words a run's state has for the outside world (States and transitions). */
export type RunStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

/** How an invocation or a task ended. The value it produced never enters a machine. */
export type Settlement = { readonly ok: true } | { readonly ok: false; readonly error: string };

/** What a task becomes when its wave starts: one invocation, or one for each of `items` (rule 7). */
export interface Expansion {
  /** Number of items of the fan-out; undefined for a task that calls its tool once. */
  readonly items: number | undefined;
  /** How many items may be in flight at once; `Infinity` when unlimited. */
  readonly concurrency: number;
}

/**
 * The place an invocation holds while it is in flight.
 * A retry that waits gives its place away and asks for one again when its delay is over (D18).
 */
export interface Place {
  settle(settlement: Settlement): void;
  wait(): void;
  resume(attempt: () => void): void;
}

/** Ends an invocation early: its tool is told to stop, and it settles as failed. */
export type Abort = () => void;

/** One budget of time per process, so that neither a wide wave nor a long fan-out holds the event loop. */
export interface Pace {
  /** True when the present turn of the event loop has been used up. */
  overdue(): boolean;
  /** Continues in a later turn. */
  later(next: () => void): void;
}

/** What the machines ask of the outside. No member throws, whatever a tool does. */
export interface Work {
  readonly pace: Pace;
  /** Starts a task: how many invocations is it? */
  expand(
    taskId: string,
  ): { readonly ok: true; readonly value: Expansion } | { readonly ok: false; readonly error: string };
  /** Makes one invocation, attempts and all, and tells its place how it went. */
  invoke(taskId: string, item: number | undefined, place: Place): Abort;
  /** Makes the outcome of a task visible to later waves; only then is the task settled. May be given up. */
  publish(taskId: string, settlement: Settlement, published: (settlement: Settlement) => void): Abort;
}
