import type { RunStatus } from '../../machines/vocabulary.js';

/** The kinds kept in a run's `events` list (Events, D29). */
export type TaskEventKind = 'start' | 'finish' | 'fail';

/** What happened to a task. One `start` and one `finish` or `fail` per task, whatever its items and attempts. */
export interface TaskEvent {
  readonly kind: TaskEventKind;
  readonly seq: number;
  /** ISO 8601, UTC, milliseconds (D27). */
  readonly time: string;
  readonly run_id: string;
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

/** The further kinds of the live stream (D29). */
export type LiveEvent =
  | TaskEvent
  | {
      readonly kind: 'run';
      readonly seq: number;
      readonly time: string;
      readonly run_id: string;
      readonly status: RunStatus;
      readonly error?: string;
    }
  | {
      readonly kind: 'wave';
      readonly seq: number;
      readonly time: string;
      readonly run_id: string;
      readonly wave: number;
      readonly phase: 'start' | 'finish';
      readonly tasks: number;
    }
  | {
      readonly kind: 'item';
      readonly seq: number;
      readonly time: string;
      readonly run_id: string;
      readonly task_id: string;
      readonly item: number;
      readonly phase: 'finish' | 'fail';
      readonly attempt: number;
      readonly error?: string;
    }
  | {
      readonly kind: 'retry';
      readonly seq: number;
      readonly time: string;
      readonly run_id: string;
      readonly task_id: string;
      readonly item?: number;
      /** The attempt that failed, from 1. */
      readonly attempt: number;
      /** Until the next attempt. */
      readonly delay_ms: number;
      readonly error: string;
    }
  | {
      readonly kind: 'log';
      readonly seq: number;
      readonly time: string;
      readonly run_id: string;
      readonly task_id: string;
      readonly item?: number;
      readonly message: string;
    };
