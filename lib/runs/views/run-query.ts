import type { RunStatus } from '../../../machines/types.js';
import { WavetrainError } from '../../common/errors.js';
import type { RunTrigger, StartedByFilter } from '../../common/wire/started-by.js';

/** `paused` selects the running runs that wait at a breakpoint. */
export type RunStatusFilter = RunStatus | 'paused';

/** Filters and pages the list of runs (D35). */
export interface RunQuery {
  /** Only runs of these tenants; undefined includes every tenant. */
  readonly tenants?: readonly string[] | undefined;
  readonly status?: RunStatusFilter | undefined;
  readonly pipeline_id?: string | undefined;
  /** Only runs that a schedule, or a webhook, has started. */
  readonly trigger?: RunTrigger | undefined;
  readonly startedBy?: StartedByFilter | undefined;
  /** Only runs with all these labels, as in `team:billing` (D76). */
  readonly labels?: readonly string[] | undefined;
  /**
   * Only runs with this text in the id of their pipeline, their goal, their error or a label, in capital or small letters, or, with six
   * characters or more, at the beginning or the end of their id. Of a goal or an error, the first 2,000 characters count.
   */
  readonly text?: string | undefined;
  /** Only runs whose id begins or ends with these characters, at least four. */
  readonly id?: string | undefined;
  /** Only runs that were submitted at this time or later, in milliseconds since 1970. */
  readonly createdAfterMs?: number | undefined;
  /** Only runs that were submitted earlier. */
  readonly createdBeforeMs?: number | undefined;
  /** Also counts the runs and the queue. */
  readonly counts?: boolean | undefined;
  /** Largest number of runs on the page. */
  readonly limit: number;
  /** The `next_cursor` of the previous page; undefined starts with the newest run. */
  readonly cursor?: string | undefined;
}

export interface DefinitionOfTenant {
  readonly tenantId: string;
  readonly id: string;
}

export function encodeCursor(number: number): string {
  return `r${number.toString(36)}`;
}

/** The list goes on with runs of smaller numbers. @throws WavetrainError `invalid_request` for a malformed cursor */
export function firstNumberAfter({ cursor }: RunQuery): number {
  if (cursor === undefined) return Number.POSITIVE_INFINITY;
  if (/^r[0-9a-z]{1,10}$/.test(cursor)) return Number.parseInt(cursor.slice(1), 36);
  throw new WavetrainError('invalid_request', `cursor must be the next_cursor of an earlier page`);
}
