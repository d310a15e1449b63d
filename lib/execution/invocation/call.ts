import type { Abortable, Slot } from '../../../machines/ports.js';
import { type FailedResult, SKIPPED, type TaskResult } from '../../../machines/types.js';
import type { ToolError } from '../../common/errors.js';
import type { Json, JsonObject } from '../../common/json/json.js';
import type { ConditionCheck } from '../../definition/template/condition.js';
import type { Task } from '../../pipelines/pipeline.js';
import type { CallProgress } from '../history/fact.js';
import type { InvocationServices } from '../run-context.js';
import type { Write } from '../session/session-overrides.js';
import type { CachedOutput } from './cache/cached-output.js';
import type { InvocationModels } from './attempt/invocation-models.js';
import type { ErrorRecord } from './thrown-error.js';

/** A call of a tool: the one of its task, or that for an item of a fan-out. */
export interface Call {
  readonly task: Task;
  readonly owner: CallOwner;
  /** Undefined for a task that calls its tool once. */
  readonly item: number | undefined;
  readonly slot: Slot;
  /** How far another process has come with the call; undefined when the call has not begun. */
  progress: CallProgress | undefined;
  /** Attempts that have begun, those of other processes included. */
  attempts: number;
  /** Of a task with `repeat`, the round at work or the next one; undefined before the first has begun (D83). */
  round: CallRound | undefined;
  /** Empty before the layer `render`. */
  inputs: JsonObject;
  /** Memory that the layer `render` has taken from the run until the call settles. */
  heldBytes: number;
  /** The time limit of the attempt at work; undefined when there is none. */
  timeLimit: { pause(): () => void } | undefined;
  /** Created when an attempt first asks a model, or runs a pipeline that may; all attempts share it. */
  models: InvocationModels | undefined;
}

/** A round of a call that is repeated (D83). */
interface CallRound {
  /** From 1. */
  readonly number: number;
  /** Attempts of the rounds before. */
  readonly attemptsBefore: number;
}

/** The attempts of the round at work; of a call that is not repeated, all. */
export function attemptsOfRound({ attempts, round }: Pick<Call, 'attempts' | 'round'>): number {
  return attempts - (round?.attemptsBefore ?? 0);
}

/** The task that makes a call. */
export interface CallOwner extends CallListener {
  onFailure(call: Call, error: string, thrown?: unknown): FailedResult;
  /** Settles the slot of an item whose earlier outcome is reused (D60); returns undefined for another one. */
  reuseItem(call: Call): AbortableCall | undefined;
  /** Says why the call of an item is not made (D78); undefined when all conditions hold. */
  decide(call: Call): { readonly reason: string } | { readonly error: string } | undefined;
  /** Says why a round is not the last one (D83); undefined when the conditions hold of its output. @throws Error when they cannot be looked at */
  findUnmet(until: ConditionCheck, output: Json): string | undefined;
  /** Renders and validates the inputs of a call; returns an error message when they are invalid. */
  render(call: Call): string | undefined;
  /** Gives the memory of the inputs back. May be called again. */
  releaseInputs(call: Call): void;
  /** The error of a call that has failed, as it is kept. */
  errorOf(item: number | undefined): ErrorRecord | undefined;
}

/** A call at work. */
export interface AbortableCall extends Abortable {
  /** Ends the call, or its attempt, early; does nothing when it has ended. @param error default: that it was stopped by force */
  abort(error?: ToolError): void;
}

/** Makes a call, or goes on with it. Reports its end once to the listener, then to the slot, perhaps before it returns. Never throws. */
export type MakeCall = (call: Call, listener: CallListener) => AbortableCall;

/** Wraps the making of a call, or returns `next`. A layer that does not wait takes no tick: facts keep their order. */
export type Layer = (services: InvocationServices, next: MakeCall, task: Task) => MakeCall;

/** Receives the steps and the end of a call. */
export interface CallListener {
  /** Called when an attempt begins, which `call.attempts` counts. */
  onAttempt(call: Call): void;
  /** Called before the tool is called, which waits for the promise. */
  onCall(call: Call): Promise<void> | undefined;
  /** Called when an attempt has failed that another one follows. @param due when, in milliseconds since 1970 */
  onRetry(call: Call, error: string, due: number): void;
  /** Called when the delay before an attempt is over. */
  onDue(call: Call): void;
  /** Called when a round has ended that another one follows (D83). @param due when, in milliseconds since 1970 */
  onRound(call: Call, due: number): void;
  /** Returns how the slot is settled; undefined when the call goes on with another round (D83). */
  onSuccess(call: Call, output: CallOutput): TaskResult | undefined;
  /**
   * Returns the error as it is kept: without a long text when there is no memory for it. Returns undefined when the call
   * goes on with another attempt; its slot is not to be settled then. @param thrown what the last attempt threw
   */
  onFailure(call: Call, error: string, thrown?: unknown): FailedResult | undefined;
  /** Called instead of `onSuccess` when the output of an equal call is used (D65). */
  onCacheHit(call: Call, cached: CachedOutput): void;
  /** Called instead of `onSuccess` when a condition of the item does not hold (D78). */
  onSkip(call: Call, reason: string): void;
}

/** The output of a call that has succeeded. */
export interface CallOutput {
  readonly value: Json;
  readonly writes: readonly Write[];
  /** Memory of the value and the writes, taken from the run. */
  readonly sizeBytes: number;
  /** The value names files, which go with the run. */
  readonly hasFiles: boolean;
}

/** Passes everything on to the listener outside of it. A layer overrides what it adds. */
export class CallRelay implements CallListener {
  readonly outer: CallListener;

  constructor(outer: CallListener) {
    this.outer = outer;
  }

  onAttempt(call: Call): void {
    this.outer.onAttempt(call);
  }

  onCall(call: Call): Promise<void> | undefined {
    return this.outer.onCall(call);
  }

  onRetry(call: Call, error: string, due: number): void {
    this.outer.onRetry(call, error, due);
  }

  onDue(call: Call): void {
    this.outer.onDue(call);
  }

  onRound(call: Call, due: number): void {
    this.outer.onRound(call, due);
  }

  onSuccess(call: Call, output: CallOutput): TaskResult | undefined {
    return this.outer.onSuccess(call, output);
  }

  onFailure(call: Call, error: string, thrown?: unknown): FailedResult | undefined {
    return this.outer.onFailure(call, error, thrown);
  }

  onCacheHit(call: Call, cached: CachedOutput): void {
    this.outer.onCacheHit(call, cached);
  }

  onSkip(call: Call, reason: string): void {
    this.outer.onSkip(call, reason);
  }
}

/** The call as the layer inside makes it. Aborting it while it is being made takes effect as soon as it is made. */
class InnerCall implements AbortableCall {
  #made: AbortableCall | undefined;
  #isAborted = false;
  #error: ToolError | undefined;

  make(next: MakeCall, call: Call, listener: CallListener): void {
    this.#made = next(call, listener);
    if (this.#isAborted) this.#made.abort(this.#error);
  }

  abort(error?: ToolError): void {
    if (this.#made !== undefined) return this.#made.abort(error);
    this.#isAborted = true;
    this.#error ??= error;
  }
}

/** A layer at work on one call, which it lets the layers inside make. */
export abstract class LayeredCall extends CallRelay implements AbortableCall {
  protected readonly services: InvocationServices;
  readonly call: Call;
  /** The call as it was last made inside; undefined before. */
  protected inner: InnerCall | undefined;
  readonly #next: MakeCall;

  constructor(services: InvocationServices, call: Call, listener: CallListener, next: MakeCall) {
    super(listener);
    this.services = services;
    this.call = call;
    this.#next = next;
  }

  protected makeInner(): void {
    this.inner = new InnerCall();
    this.inner.make(this.#next, this.call, this);
  }

  abort(error?: ToolError): void {
    this.inner?.abort(error);
  }
}

/** Reports that a call has failed, and settles its slot unless the call goes on. */
export function failCall(call: Call, listener: CallListener, error: string, thrown?: unknown): void {
  const result = listener.onFailure(call, error, thrown);
  if (result !== undefined) call.slot.settle(result);
}

/** Reports that a call is skipped, and settles its slot. */
export function skipCall(call: Call, listener: CallListener, reason: string): void {
  listener.onSkip(call, reason);
  call.slot.settle(SKIPPED);
}

/** The end of a call that has called its tool. */
export const SUCCEEDED = { ok: true } as const;

export const NO_ABORT: AbortableCall = { abort() {} };

/** The error of a call that is aborted. */
export const STOPPED = 'stopped by force';
