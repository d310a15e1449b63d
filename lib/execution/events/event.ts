import type { RunStatus } from '../../../machines/types.js';
import type { FailedTask } from '../../common/errors.js';
import type { ModelUsage } from '../../models/model.js';

/** The kinds of events in a run's `events` list (Events, D29). */
export type TaskEventKind = 'start' | 'finish' | 'fail';

interface EventStamp {
  readonly seq: number;
  /** ISO 8601, UTC, milliseconds (D27). */
  readonly time: string;
  readonly run_id: string;
}

/** An event that may have happened in a sub-run or a nested run. */
interface LocatedEvent extends EventStamp {
  /** Id of the sub-pipeline. */
  readonly sub_pipeline?: string;
  /** The tasks whose nested runs contain the event, outermost first: `task`, or `task[item]`. */
  readonly within?: readonly string[];
}

/** The start or the end of a task: one `start` and one `finish` or `fail`, whatever its items and attempts. */
export interface TaskEvent extends LocatedEvent {
  readonly kind: TaskEventKind;
  readonly task_id: string;
  readonly tool: string;
  /** Index of the task's wave, from 0. */
  readonly wave: number;
  /** Number of items; set for a fan-out. */
  readonly items?: number;
  /** Number of items whose errors were collected (D67); set on finish and fail, if there are any. */
  readonly failed_items?: number;
  /** Attempts made; set on finish and fail of a task that calls its tool once. */
  readonly attempt?: number;
  readonly duration_ms?: number;
  readonly error?: string;
  /** The task did not run: its output comes from an earlier run (D35). */
  readonly reused?: true;
  /** The tool was not called: the output of an equal invocation was in the cache (D65). */
  readonly cached?: true;
  /** Number of items whose outputs were in the cache; set on finish and fail of a fan-out, if there are any. */
  readonly cached_items?: number;
}

/** The run has a new status. */
interface RunStatusEvent extends EventStamp {
  readonly kind: 'run';
  readonly status: RunStatus;
  /** True when the run waits at a breakpoint. */
  readonly paused?: true;
  readonly error?: string;
  /** The task that failed the run (D59). */
  readonly failed_task?: FailedTask;
}

/** A sub-pipeline of a plan has a new status. */
export interface SubPipelineEvent extends EventStamp {
  readonly kind: 'sub_pipeline';
  readonly sub_pipeline: string;
  readonly status: RunStatus;
  /** True when the sub-pipeline waits at a breakpoint. */
  readonly paused?: true;
  readonly error?: string;
  /** The task that failed the sub-pipeline. */
  readonly failed_task?: FailedTask;
}

export interface WaveEvent extends LocatedEvent {
  readonly kind: 'wave';
  readonly wave: number;
  readonly phase: 'start' | 'finish';
  readonly tasks: number;
}

export interface ItemEvent extends LocatedEvent {
  readonly kind: 'item';
  readonly task_id: string;
  readonly item: number;
  readonly phase: 'finish' | 'fail';
  /** 0 for an item that is reused or cached. */
  readonly attempt: number;
  readonly error?: string;
  /** The item did not run: its output comes from an earlier run (D60). */
  readonly reused?: true;
  /** The tool was not called: the output of an equal invocation was in the cache (D65). */
  readonly cached?: true;
}

interface RetryEvent extends LocatedEvent {
  readonly kind: 'retry';
  readonly task_id: string;
  readonly item?: number;
  /** The attempt that failed, from 1. */
  readonly attempt: number;
  /** Time until the next attempt. */
  readonly delay_ms: number;
  readonly error: string;
}

interface LogEvent extends LocatedEvent {
  readonly kind: 'log';
  readonly task_id: string;
  readonly item?: number;
  readonly message: string;
}

/** A part of the text that a model is answering with. */
interface TextEvent extends LocatedEvent {
  readonly kind: 'text';
  readonly task_id: string;
  readonly item?: number;
  /** Counts the requests of the attempt, from 1: an answer that was cut begins again as another one. */
  readonly request: number;
  readonly text: string;
}

/** A model has answered. */
interface UsageEvent extends LocatedEvent {
  readonly kind: 'usage';
  readonly task_id: string;
  readonly item?: number;
  readonly usage: ModelUsage;
}

/** An event of the live stream (D29). */
export type LiveEvent =
  | TaskEvent
  | RunStatusEvent
  | SubPipelineEvent
  | WaveEvent
  | ItemEvent
  | RetryEvent
  | LogEvent
  | TextEvent
  | UsageEvent;

/** Where an event happened: in a sub-pipeline of the plan, in a nested run inside a task, or in both. */
export type EventLocation = Pick<LocatedEvent, 'sub_pipeline' | 'within'>;
