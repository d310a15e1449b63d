import type { RunStatus } from '../../../machines/types.js';
import { WavetrainError } from '../../common/errors.js';
import type { BaseRun } from '../../execution/run/base-run.js';
import { type RunSummary, toRunSummary } from '../record.js';

/** Filters and pages the list of runs (D35). */
export interface RunQuery {
  /** Only runs of these tenants; undefined includes every tenant. */
  readonly tenants?: readonly string[] | undefined;
  readonly status?: RunStatus | undefined;
  readonly pipeline_id?: string | undefined;
  /** Largest number of runs on the page. */
  readonly limit: number;
  /** The `next_cursor` of the previous page; undefined starts with the newest run. */
  readonly cursor?: string | undefined;
}

export interface RunPage {
  readonly runs: readonly RunSummary[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** A page ends early rather than being larger than this. */
const MAX_PAGE_BYTES = 2 ** 20;

/** A run, with its place in the order of submissions. */
interface ListedRun {
  readonly sequence: number;
  readonly run: BaseRun;
}

/**
 * One page of runs. It continues where the previous page ended, even if runs were added or forgotten meanwhile. It has
 * at most `limit` runs and about 1 MiB, but at least one run.
 *
 * @param entries the newest first
 * @throws WavetrainError `invalid_request` for a malformed cursor
 */
export function paginate(entries: Iterable<ListedRun>, query: RunQuery): RunPage {
  const before = query.cursor === undefined ? Number.POSITIVE_INFINITY : decodeCursor(query.cursor);
  const runs: RunSummary[] = [];
  let bytes = 0;
  let last = 0;
  for (const entry of entries) {
    if (entry.sequence >= before || !matches(entry, query)) continue;
    const summary = toRunSummary(entry.run);
    bytes += Buffer.byteLength(JSON.stringify(summary));
    const isFull = runs.length === query.limit || (bytes > MAX_PAGE_BYTES && runs.length > 0);
    if (isFull) return { runs, next_cursor: encodeCursor(last) };
    runs.push(summary);
    last = entry.sequence;
  }
  return { runs, next_cursor: null };
}

function matches({ run }: ListedRun, { tenants, status, pipeline_id }: RunQuery): boolean {
  if (tenants !== undefined && !tenants.includes(run.tenantId)) return false;
  if (pipeline_id !== undefined && run.definitionId !== pipeline_id) return false;
  return status === undefined || run.status === status;
}

function encodeCursor(sequence: number): string {
  return `r${sequence.toString(36)}`;
}

function decodeCursor(cursor: string): number {
  if (/^r[0-9a-z]{1,10}$/.test(cursor)) return Number.parseInt(cursor.slice(1), 36);
  throw new WavetrainError('invalid_request', `cursor must be the next_cursor of an earlier page`);
}

/** The number of runs per status; omits a status without runs. */
export function countStatuses(entries: Iterable<ListedRun>): Map<RunStatus, number> {
  const counts = new Map<RunStatus, number>();
  for (const { run } of entries) counts.set(run.status, (counts.get(run.status) ?? 0) + 1);
  return counts;
}
