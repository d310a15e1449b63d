import type { RunStatus } from '../../machines/types.js';
import { WavetrainError } from '../common/errors.js';
import type { Entry } from './entry.js';
import { type RunSummary, summaryOf } from './record.js';

/** Which runs are wanted, newest first (D35). */
export interface RunQuery {
  /** Runs of these tenants only; undefined is every tenant. */
  readonly tenants?: readonly string[] | undefined;
  readonly status?: RunStatus | undefined;
  readonly pipeline_id?: string | undefined;
  /** At most so many at once. */
  readonly limit: number;
  /** The `next_cursor` of the page before; undefined begins with the newest. */
  readonly cursor?: string | undefined;
}

export interface RunPage {
  readonly runs: readonly RunSummary[];
  /** To be given for the next page; null when this is the last. */
  readonly next_cursor: string | null;
}

/**
 * One page of runs. A page begins where the one before ended, whatever was added or forgotten meanwhile.
 *
 * @param entries in the order in which they were submitted
 * @throws WavetrainError `invalid_request` for a cursor that never was one
 */
export function pageOf(entries: readonly Entry[], query: RunQuery): RunPage {
  const before = query.cursor === undefined ? Number.POSITIVE_INFINITY : numberOf(query.cursor);
  const runs: RunSummary[] = [];
  let last = 0;
  for (const entry of entries.toReversed()) {
    if (entry.number >= before || !isWanted(entry, query)) continue;
    if (runs.length === query.limit) return { runs, next_cursor: cursorAt(last) };
    runs.push(summaryOf(entry.run));
    last = entry.number;
  }
  return { runs, next_cursor: null };
}

/** How many runs have each status; one that none has is not there. */
export function statusesOf(entries: Iterable<Entry>): Map<RunStatus, number> {
  const counts = new Map<RunStatus, number>();
  for (const { run } of entries) counts.set(run.status, (counts.get(run.status) ?? 0) + 1);
  return counts;
}

function isWanted({ run, tenantId }: Entry, { tenants, status, pipeline_id }: RunQuery): boolean {
  if (tenants !== undefined && !tenants.includes(tenantId)) return false;
  if (pipeline_id !== undefined && run.definitionId !== pipeline_id) return false;
  return status === undefined || run.status === status;
}

function cursorAt(number: number): string {
  return `r${number.toString(36)}`;
}

function numberOf(cursor: string): number {
  if (/^r[0-9a-z]{1,10}$/.test(cursor)) return Number.parseInt(cursor.slice(1), 36);
  throw new WavetrainError('invalid_request', `cursor must be the next_cursor of an earlier page`);
}
