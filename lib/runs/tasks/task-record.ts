import type { TaskStatus } from '../../../machines/types.js';
import type { Shape } from '../../common/wire/shape.js';
import type {
  AttemptRecordSchema,
  ItemCountsSchema,
  ItemPageSchema,
  ItemRecordSchema,
  TaskPageSchema,
  TaskRecordSchema,
} from '../../common/wire/task.js';

/** One attempt to call a tool. Times are ISO 8601 in UTC; null when unknown, or not there yet. */
export interface AttemptRecord extends Shape<typeof AttemptRecordSchema> {}

/** One task of a run, with its values (D59). */
export interface TaskRecord extends Shape<typeof TaskRecordSchema> {}

/** One item of a fan-out, with its values (D59). */
export interface ItemRecord extends Shape<typeof ItemRecordSchema> {}

/** The fields that the calls of tasks and those of items have in common (D59). */
export type CallRecord = Pick<TaskRecord, keyof TaskRecord & keyof ItemRecord>;

/** The number of items of a fan-out, and how many of them there are with each status. */
export interface ItemCounts extends Shape<typeof ItemCountsSchema> {}

/** A task or an item that has failed. */
export type FailedCall = TaskRecord | ItemRecord;

/** How many failed tasks and items are listed, and how much of their values. */
export interface FailedCallsQuery {
  readonly most: number;
  /** About as many characters of each value are shown; default: as on a page. */
  readonly valueLength?: number | undefined;
}

export interface TaskPage extends Shape<typeof TaskPageSchema> {}

export interface ItemPage extends Shape<typeof ItemPageSchema> {}

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
