import type { RunTrigger } from '../../common/wire/started-by.js';
import type { RunStatus } from '../../../machines/types.js';
import { WavetrainError } from '../../common/errors.js';
import { LISTING_LIMITS } from '../../common/limits.js';
import type { Steps } from '../../common/scheduling/steps.js';
import { createTextFinder } from '../../common/text.js';
import type { BaseRun } from '../../execution/run/base-run.js';
import { type RunSummary, toRunSummary } from '../record.js';
import { matchesStartedBy, type StartedByFilter } from '../../common/wire/started-by.js';
import type { RunCountsSchema, RunPageSchema } from '../../common/wire/run.js';
import type { Shape } from '../../common/wire/shape.js';

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
  /**
   * Only runs with this text in their id, the id of their pipeline, their goal or their error, in capital or small letters:
   * of a goal or an error, the first 2,000 characters count.
   */
  readonly text?: string | undefined;
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

export interface RunPage extends Shape<typeof RunPageSchema> {}

/** The number of runs by status. `paused` are those of `running` that wait at a breakpoint. */
export interface RunCounts extends Shape<typeof RunCountsSchema> {}

/** A page ends early rather than being larger than this. */
const MAX_PAGE_BYTES = 2 ** 20;

/** The costs of looking at a run, of searching it for a text, and of listing it; and how much is done in one step. */
const LOOK_COST = 1;
const SEARCH_COST = 16;
const COMPARISONS_PER_COST = 512;
const SUMMARY_COST = 32;
const STEP_COST = 2048;

/** The error of a run is found among its failures. */
const FAILURES_PER_COST = 32;

/** A run, with its place in the order of submissions. */
interface ListedRun {
  readonly sequence: number;
  readonly run: BaseRun;
}

/**
 * One page of runs, in steps: there may be a million. It continues where the previous page ended, even if runs were added or
 * forgotten meanwhile. It has at most `limit` runs and about 1 MiB, but at least one run. Each run is as it was when it
 * was looked at.
 *
 * @param entries the newest first
 * @throws WavetrainError `invalid_request` for a malformed cursor
 */
export function* paginate(entries: Iterable<ListedRun>, query: RunQuery): Steps<RunPage> {
  const before = query.cursor === undefined ? Number.POSITIVE_INFINITY : decodeCursor(query.cursor);
  const filter = new RunFilter(query);
  const page = new PageOfRuns(query.limit);
  const counts = query.counts === true ? { ...NO_RUNS } : undefined;
  let cost = 0;
  for (const { run, sequence } of entries) {
    cost += LOOK_COST + filter.searchCost(run);
    if (cost >= STEP_COST) {
      cost = 0;
      yield;
    }
    const mayBeListed = sequence < before && !page.isComplete;
    if ((counts === undefined && !mayBeListed) || !filter.accepts(run)) continue;
    if (counts !== undefined) count(counts, run);
    if (!mayBeListed || !filter.acceptsStatus(run)) continue;
    cost += SUMMARY_COST;
    page.add(run, sequence);
    if (page.isComplete && counts === undefined) break;
  }
  return { runs: page.runs, next_cursor: page.nextCursor, ...(counts && { counts }) };
}

const NO_RUNS: RunCounts = { queued: 0, running: 0, paused: 0, succeeded: 0, failed: 0, cancelled: 0 };

function count(counts: Record<RunStatusFilter, number>, run: BaseRun): void {
  const { status } = run;
  counts[status]++;
  if (status === 'running' && run.isPaused) counts.paused++;
}

/** Applies the filters of a query; `paginate` applies order and cursor. */
class RunFilter {
  readonly #query: RunQuery;
  readonly #tenants: ReadonlySet<string> | undefined;
  readonly #finds: ReturnType<typeof createTextFinder> | undefined;

  constructor(query: RunQuery) {
    const { tenants, text } = query;
    this.#query = query;
    this.#tenants = tenants && new Set(tenants);
    this.#finds =
      text === undefined || text === '' ? undefined : createTextFinder(text, LISTING_LIMITS.searchedLength);
  }

  /** Returns the cost of searching a run: a text of repeated letters is compared at each place of the searched text. */
  searchCost({ goal, status, failures }: BaseRun): number {
    if (this.#finds === undefined) return 0;
    const { text = '' } = this.#query;
    const searched = Math.min(goal.length, LISTING_LIMITS.searchedLength);
    const comparisons = text.length * (searched + (status === 'failed' ? LISTING_LIMITS.searchedLength : 0));
    return SEARCH_COST + failures.length / FAILURES_PER_COST + comparisons / COMPARISONS_PER_COST;
  }

  /** Returns true when a run passes all filters but that of its status. */
  accepts(run: BaseRun): boolean {
    const { pipeline_id, trigger, startedBy, createdAfterMs, createdBeforeMs } = this.#query;
    if (this.#tenants !== undefined && !this.#tenants.has(run.tenantId)) return false;
    if (pipeline_id !== undefined && run.definitionId !== pipeline_id) return false;
    if (trigger !== undefined && run.trigger !== trigger) return false;
    if (startedBy !== undefined && !matchesStartedBy(startedBy, run.startedBy)) return false;
    if (createdAfterMs !== undefined && run.createdAt < createdAfterMs) return false;
    if (createdBeforeMs !== undefined && run.createdAt >= createdBeforeMs) return false;
    const { id, definitionId, goal, error } = run;
    return this.#finds === undefined || this.#finds([id, definitionId, goal, error ?? '']);
  }

  acceptsStatus(run: BaseRun): boolean {
    const { status } = this.#query;
    if (status === 'paused') return run.status === 'running' && run.isPaused;
    return status === undefined || run.status === status;
  }
}

class PageOfRuns {
  readonly runs: RunSummary[] = [];
  nextCursor: string | null = null;
  readonly #limit: number;
  #bytes = 0;
  #last = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isComplete(): boolean {
    return this.nextCursor !== null;
  }

  add(run: BaseRun, sequence: number): void {
    if (this.runs.length === this.#limit) return this.#end();
    const summary = toRunSummary(run);
    this.#bytes += Buffer.byteLength(JSON.stringify(summary));
    if (this.#bytes > MAX_PAGE_BYTES && this.runs.length > 0) return this.#end();
    this.runs.push(summary);
    this.#last = sequence;
  }

  #end(): void {
    this.nextCursor = `r${this.#last.toString(36)}`;
  }
}

function decodeCursor(cursor: string): number {
  if (/^r[0-9a-z]{1,10}$/.test(cursor)) return Number.parseInt(cursor.slice(1), 36);
  throw new WavetrainError('invalid_request', `cursor must be the next_cursor of an earlier page`);
}

export interface DefinitionOfTenant {
  readonly tenantId: string;
  readonly id: string;
}

/** The last runs of each of some definitions, in one walk, in steps. @param entries the newest first */
export function* collectLastRuns<D extends DefinitionOfTenant>(
  entries: Iterable<ListedRun>,
  definitions: readonly D[],
  most: number,
): Steps<Map<D, RunSummary[]>> {
  const found = new Map<D, RunSummary[]>(definitions.map((definition) => [definition, []]));
  const byTenant = new Map<string, Map<string, RunSummary[]>>();
  for (const [{ tenantId, id }, runs] of found) {
    const ofTenant = byTenant.get(tenantId) ?? new Map<string, RunSummary[]>();
    byTenant.set(tenantId, ofTenant.set(id, runs));
  }
  let missing = definitions.length * most;
  let looked = 0;
  for (const { run } of entries) {
    if (missing === 0) break;
    if (++looked % STEP_COST === 0) yield;
    const runs = byTenant.get(run.tenantId)?.get(run.definitionId);
    if (runs === undefined || runs.length === most) continue;
    runs.push(toRunSummary(run));
    missing--;
  }
  return found;
}
