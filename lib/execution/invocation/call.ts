import type { Abort, Slot } from '../../../machines/ports.js';
import type { FailedResult } from '../../../machines/types.js';
import type { Json, JsonObject } from '../../common/json/json.js';
import type { Task } from '../../pipelines/pipeline.js';
import type { CallProgress } from '../history/fact.js';
import type { InvocationServices } from '../run-context.js';
import type { Write } from '../session/session-overrides.js';
import type { CachedOutput } from './cache/cached-output.js';
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
  /** Empty before the layer `render`. */
  inputs: JsonObject;
  /** Memory that the layer `render` has taken from the run until the call settles. */
  heldBytes: number;
}

/** The task that makes a call. */
export interface CallOwner extends CallListener {
  /** Settles the slot of an item whose earlier outcome is reused (D60); returns undefined for another one. */
  reuseItem(call: Call): Abort | undefined;
  /** Renders and validates the inputs of a call; returns an error message when they are invalid. */
  render(call: Call): string | undefined;
  /** The error of a call that has failed, as it is kept. */
  errorOf(item: number | undefined): ErrorRecord | undefined;
}

/** Makes a call, or goes on with it. Reports once to the listener, then to the slot, perhaps before it returns. Never throws. */
export type MakeCall = (call: Call, listener: CallListener) => Abort;

/**
 * Wraps what makes a call in one capability; returns `next` where the run or the task does not use it. A layer that does not
 * wait takes no tick: facts keep their order.
 */
export type Layer = (services: InvocationServices, next: MakeCall, task: Task) => MakeCall;

/** Receives the steps and the end of a call. */
export interface CallListener {
  /** Called when an attempt begins. @param attempt from 1 */
  onAttempt(item: number | undefined, attempt: number): void;
  /**
   * Called when an attempt has failed, and another one will follow.
   *
   * @param attempt from 1
   * @param due when the next one is, in milliseconds since 1970
   */
  onRetry(item: number | undefined, error: string, attempt: number, due: number): void;
  /** Called when the delay before an attempt is over. */
  onDue?(): void;
  /** Called before the tool is called, which waits for the promise. */
  onCall?(attempt: number): Promise<void> | undefined;
  /**
   * @param sizeBytes memory of the value and the writes, taken from the run
   * @param hasFiles the value names files, which go with the run
   */
  onSuccess(
    item: number | undefined,
    value: Json,
    writes: readonly Write[],
    attempts: number,
    sizeBytes: number,
    hasFiles: boolean,
  ): void;
  /**
   * Returns the error as it is kept: without a long text when there is no memory for it.
   *
   * @param thrown what the last attempt threw, if it did
   */
  onFailure(item: number | undefined, error: string, attempts: number, thrown?: unknown): FailedResult;
  /** Called instead of `onSuccess` when the output of an equal call is used (D65). */
  onCacheHit(item: number | undefined, cached: CachedOutput): void;
}

export const NO_ABORT: Abort = () => {};

/** The error of a call that is aborted. */
export const STOPPED = 'stopped by force';
