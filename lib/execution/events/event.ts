import type { RunStatus } from '../../../machines/types.js';

/** The kinds kept in a run's `events` list (Events, D29). */
export type TaskEventKind = 'start' | 'finish' | 'fail';

interface Stamp {
  readonly seq: number;
  /** ISO 8601, UTC, milliseconds (D27). */
  readonly time: string;
  readonly run_id: string;
}

/** Where it happened, when the run holds other runs. */
interface Nested extends Stamp {
  /** The sub-pipeline of the plan. */
  readonly sub_pipeline?: string;
  /** The tasks that ran the pipeline it happened in, the outermost first: `task`, or `task[item]`. */
  readonly within?: readonly string[];
}

/** What happened to a task. One `start` and one `finish` or `fail` per task, whatever its items and attempts. */
export interface TaskEvent extends Nested {
  readonly kind: TaskEventKind;
  readonly task_id: string;
  readonly tool: string;
  /** Index of the task's wave, from 0. */
  readonly wave: number;
  /** Number of items, for a fan-out. */
  readonly items?: number;
  /** Attempts made, on finish and fail of a task that is no fan-out. */
  readonly attempt?: number;
  readonly duration_ms?: number;
  readonly error?: string;
  /** The task was not run again: its output comes from an earlier run (D35). */
  readonly reused?: true;
}

/** The run has come to a status. */
interface RunStatusEvent extends Stamp {
  readonly kind: 'run';
  readonly status: RunStatus;
  readonly error?: string;
}

/** A sub-pipeline of a plan has come to a status. */
export interface SubPipelineEvent extends Stamp {
  readonly kind: 'sub_pipeline';
  readonly sub_pipeline: string;
  readonly status: RunStatus;
  readonly error?: string;
}

export interface WaveEvent extends Nested {
  readonly kind: 'wave';
  readonly wave: number;
  readonly phase: 'start' | 'finish';
  readonly tasks: number;
}

export interface ItemEvent extends Nested {
  readonly kind: 'item';
  readonly task_id: string;
  readonly item: number;
  readonly phase: 'finish' | 'fail';
  readonly attempt: number;
  readonly error?: string;
}

interface RetryEvent extends Nested {
  readonly kind: 'retry';
  readonly task_id: string;
  readonly item?: number;
  /** The attempt that failed, from 1. */
  readonly attempt: number;
  /** Until the next attempt. */
  readonly delay_ms: number;
  readonly error: string;
}

interface LogEvent extends Nested {
  readonly kind: 'log';
  readonly task_id: string;
  readonly item?: number;
  readonly message: string;
}

/** An event of the live stream (D29). */
export type LiveEvent =
  | TaskEvent
  | RunStatusEvent
  | SubPipelineEvent
  | WaveEvent
  | ItemEvent
  | RetryEvent
  | LogEvent;

/** Where an event of a nested run belongs: to a sub-pipeline of the plan, or to a run inside a task. */
export type EventPlace = Pick<Nested, 'sub_pipeline' | 'within'>;
