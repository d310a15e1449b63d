import type { RunStatus } from '../../../machines/types.js';
import type { Json } from '../../common/json/json.js';
import type { LiveEvent } from '../events/event.js';
import type { PublishedFile } from '../invocation/files/published-file.js';
import type { ErrorRecord } from '../invocation/thrown-error.js';
import type { Write } from '../session/session-overrides.js';

/**
 * An occurrence in a run, kept in order with the others, so that the run can be rebuilt and go on (D68). Only what
 * comes from outside is a fact: what tools answered, what waited, what was cancelled. The machines do the rest again.
 */
export type Fact = RunFact | PlacedFact;

interface Timed {
  /** Milliseconds since 1970, UTC, by the timeline of the run. */
  readonly at: number;
}

/** A fact that concerns the run as a whole. */
export type RunFact =
  | (Timed & { readonly kind: 'cancel'; readonly force: boolean })
  | (Timed & { readonly kind: 'resume'; readonly by: 'continue' | 'step' })
  | (Timed & { readonly kind: 'event'; readonly event: LiveEvent })
  /** Files are in their places: those of the call that succeeds next. */
  | (Timed & { readonly kind: 'files'; readonly files: readonly PublishedFile[] })
  | (Timed & { readonly kind: 'settled' })
  /** Another process goes on with the run. */
  | (Timed & { readonly kind: 'restored' })
  /** A process has left the run as it is, because it was asked to end: it did not crash. */
  | (Timed & { readonly kind: 'left' })
  /** Nobody waited for the facts of pipelines from number `from` on, from 0: the run went on without them. */
  | (Timed & { readonly kind: 'diverged'; readonly from: number });

/** A fact of the run of one pipeline. */
interface Placed extends Timed {
  /** Empty for the submitted pipeline; a sub-pipeline, or the attempt that runs a pipeline: `extract/each[3]#1.0`. */
  readonly place: string;
}

interface OfTask extends Placed {
  readonly task: string;
}

interface OfCall extends OfTask {
  /** Index of the item; -1 for a task that calls its tool once. */
  readonly item: number;
}

/** A fact whose time is the end of an attempt, or of the call whose last attempt it was. */
interface OfAttempt extends OfCall {
  /** How long before, in milliseconds, the attempt had begun; undefined in facts of earlier versions. */
  readonly ms?: number;
}

/** A call of a tool has ended, with its last attempt. */
export type CallSettled = OfAttempt &
  (
    | {
        readonly kind: 'succeeded';
        readonly value: Json;
        readonly writes: readonly Write[];
        /** 0 when the output was in the cache. */
        readonly attempts: number;
        readonly bytes: number;
        readonly cached?: true;
      }
    | {
        readonly kind: 'failed';
        readonly error: string;
        /** 0 when the inputs of the call were refused. */
        readonly attempts: number;
        readonly record?: ErrorRecord;
        /** Set when the task that runs the pipeline of this call must not try again either. */
        readonly permanent?: true;
      }
    /** A condition of the item did not hold (D78). */
    | { readonly kind: 'skipped'; readonly reason: string; readonly attempts: 0 }
  );

/** An attempt has failed, and another one follows. */
export interface RetryWaits extends OfAttempt {
  readonly kind: 'retry';
  /** The number of the attempt that failed. */
  readonly attempts: number;
  readonly error: string;
  /** When the next attempt is due, in milliseconds since 1970, by the clock. */
  readonly due: number;
}

/** A round has ended, its conditions do not hold, and another one follows (D83). */
export interface RoundEnded extends OfAttempt {
  readonly kind: 'round';
  /** From 1. */
  readonly round: number;
  /** Attempts of all rounds so far. */
  readonly attempts: number;
  /** When the next round is due, in milliseconds since 1970, by the clock. */
  readonly due: number;
}

/** The delay before an attempt, or before a round, is over. */
export interface RetryDue extends OfCall {
  readonly kind: 'due';
}

/** A tool is called that must not be called twice for one attempt, or that was at work when the process ended. */
export interface CallBegun extends OfCall {
  readonly kind: 'called';
  readonly attempt: number;
  /** How often a process had crashed at the run before the attempt was at work. */
  readonly crashes: number;
}

/** A task could not begin: no memory was left, or its templates could not be rendered. */
export interface TaskRefused extends OfTask {
  readonly kind: 'refused';
  readonly error: string;
}

/** A condition of a task did not hold, or it reads an output that there is not (D78). */
export interface TaskSkipped extends OfTask {
  readonly kind: 'task_skipped';
  readonly reason: string;
}

/** The conditions of a sub-pipeline were looked at (D77): it is skipped for the `reason`, or begins, with an `error` when they could not be. */
export interface SubPipelineDecided extends Placed {
  readonly kind: 'decided';
  readonly reason?: string;
  readonly error?: string;
}

/** A task is published: its writes are on the blackboard, and others may read its output. */
export interface TaskPublished extends OfTask {
  readonly kind: 'published';
  /** How long before, in milliseconds, the task had begun; undefined in facts of earlier versions. */
  readonly ms?: number;
  /** Undefined when the task has not failed. */
  readonly error?: string;
  /** Attempts of a task that has failed although none of its calls had failed it; undefined in facts of earlier versions. */
  readonly attempts?: number;
}

/** A run, a sub-pipeline or a pipeline inside a task has left the queue; at `@handlers`, the handlers of a plan have begun. */
export interface Begun extends Placed {
  readonly kind: 'begun';
}

/** The time of a run, a sub-pipeline or a pipeline inside a task was over, or that of its handlers: what was at work was aborted (D81). */
export interface TimedOut extends Placed {
  readonly kind: 'timeout';
}

/** The handlers of a list have begun: all that was at work before at the place has ended (D80). */
export interface HandlersBegun extends Placed {
  readonly kind: 'handlers_begun';
  readonly list: string;
  readonly status: RunStatus;
}

/** A pipeline inside a task was created. Earlier facts of this place belong to another call. */
export interface NestedBegun extends Placed {
  readonly kind: 'nested';
  /** The fingerprint of the pipeline and of what it was given. */
  readonly fingerprint: string;
}

/** The event loop was needed by others: the machines asked for the `count`-th time whether it was. */
export interface SliceUsedUp extends Placed {
  readonly kind: 'exhausted';
  readonly count: number;
}

/** The work that the machines had deferred as the `count`-th went on. */
export interface SliceContinued extends Placed {
  readonly kind: 'continued';
  readonly count: number;
}

export type PlacedFact =
  | CallSettled
  | RetryWaits
  | RoundEnded
  | RetryDue
  | CallBegun
  | TaskPublished
  | TaskRefused
  | TaskSkipped
  | SubPipelineDecided
  | Begun
  | TimedOut
  | HandlersBegun
  | NestedBegun
  | SliceUsedUp
  | SliceContinued;

/** Facts of one call, which are replayed when the call is made again. */
export type CallFact = CallSettled | RetryWaits | RoundEnded | RetryDue;

/** Memory of what the disk holds of a call besides its value: its fact and its event. Otherwise a tenant could fill the disk. */
export const CALL_BYTES = 400;

/** Memory of a task or an item that is skipped, without the text of the reason. */
export const SKIP_BYTES = 64;

/** Memory of what is on the disk of a pipeline inside a task, besides its calls. */
export const NESTED_BYTES = 1024;

/** Memory of what is on the disk of a round: its facts, and its event with a reason. */
export const ROUND_BYTES = 1024;

/** Returns the memory of what is on the disk of a retry. */
export function measureRetry(error: string): number {
  return 512 + 2 * error.length;
}

/** Returns the memory that a pipeline inside a task has taken of its run for a fact. */
export function measureNestedFact(fact: Fact): number {
  if (fact.kind === 'succeeded') return CALL_BYTES + fact.bytes;
  if (fact.kind === 'failed' || fact.kind === 'skipped') return CALL_BYTES;
  if (fact.kind === 'retry') return measureRetry(fact.error);
  if (fact.kind === 'round') return ROUND_BYTES;
  return fact.kind === 'nested' ? NESTED_BYTES : 0;
}

/** How far the attempts of a call have come. */
export interface CallProgress {
  /** Attempts that have failed, or have ended a round. */
  readonly attempts: number;
  /** When the next attempt is due, in milliseconds since 1970; undefined when it was due already. */
  readonly due: number | undefined;
  /** The whole delay before the next attempt, in milliseconds: the clock may have been set back since. */
  readonly delayMs: number;
}
