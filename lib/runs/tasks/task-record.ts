import type { TaskStatus } from '../../../machines/types.js';
import type { Json, JsonObject } from '../../common/json/json.js';
import type { ErrorRecord } from '../../execution/invocation/thrown-error.js';

/** One attempt to call a tool. Times are ISO 8601 in UTC; null when unknown, or not there yet. */
export interface AttemptRecord {
  /** From 1. */
  readonly attempt: number;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  /** Why the attempt failed; null when it succeeded or is under way. */
  readonly error: string | null;
}

/** The fields that the calls of tasks and those of items have in common (D59). */
export interface CallRecord {
  readonly run_id: string;
  /** Only in a run of a plan. */
  readonly sub_pipeline?: string;
  readonly task_id: string;
  readonly status: TaskStatus;
  /** True when the output comes from an earlier run: the tool was not called (D35). */
  readonly reused: boolean;
  /** True when the output was in the cache: the tool was not called (D65). */
  readonly cached: boolean;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  /** The last ones, the oldest first; none of a fan-out, whose items have them. */
  readonly attempts: readonly AttemptRecord[];
  /** The inputs with which the tool was or would be called; null when they cannot be rendered, and for a fan-out. */
  readonly inputs: JsonObject | null;
  /** Why `inputs` is null. */
  readonly inputs_error: string | null;
  /** Null when there is none. Of a fan-out that failed: those of its items that succeeded, null in place of others. */
  readonly output: Json;
  readonly error: ErrorRecord | null;
  /** JSON pointers, within this record, to what was cut; empty when everything is whole. */
  readonly cut: readonly string[];
}

/** One task of a run, with its values (D59). */
export interface TaskRecord extends CallRecord {
  readonly tool: string;
  /** Index of its wave, from 0. */
  readonly wave: number;
  /** Null for a task that calls its tool once, and for a fan-out that has not started. */
  readonly items: ItemCounts | null;
  /** Number of items whose outputs were in the cache (D65); null like `items`. */
  readonly cached_items: number | null;
}

/** The number of items of a fan-out, and how many of them there are with each status. */
export type ItemCounts = Readonly<Record<TaskStatus | 'total', number>>;

/** One item of a fan-out, with its values (D59). */
export interface ItemRecord extends CallRecord {
  /** Index in the fan-out, from 0. */
  readonly item: number;
  /** `{{item}}` */
  readonly value: Json;
}

/** A task or an item that has failed. */
export type FailedCall = TaskRecord | ItemRecord;

/** How many failed tasks and items are listed, and how much of their values. */
export interface FailedCallsQuery {
  readonly most: number;
  /** About as many characters of each value are shown; default: as on a page. */
  readonly valueLength?: number | undefined;
}

export interface TaskPage {
  /** In the order of the waves. */
  readonly tasks: readonly TaskRecord[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null;
}

export interface ItemPage {
  /** In the order of the list. */
  readonly items: readonly ItemRecord[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** How one task or item is shown. */
export interface TaskOptions {
  /** The sub-pipeline of the task: in a run of a plan only, and required there but for a list of tasks. */
  readonly sub_pipeline?: string | undefined;
  /** Shows everything; otherwise large values are cut, and `cut` says where. */
  readonly whole?: boolean | undefined;
}

/** Filters and pages tasks or items. */
export interface TaskQuery extends TaskOptions {
  /** Default true. False leaves inputs and outputs out, and shows only the beginning of items. */
  readonly values?: boolean | undefined;
  readonly status?: TaskStatus | undefined;
  /** Largest number on the page, 1 to 500; default 50. A page ends early rather than being much larger than 1 MiB. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
}
