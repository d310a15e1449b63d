import { toIsoTime } from '../../common/clock.js';
import { LABEL_LIMITS, LISTING_LIMITS } from '../../common/limits.js';
import type { WaitingFor } from '../../common/wire/run-summary.js';
import type { Steps } from '../../common/scheduling/steps.js';
import { createTextFinder } from '../../common/text.js';
import type { BaseRun } from '../../execution/run/base-run.js';
import { toRunSummary } from '../record.js';
import type { RetentionLimits } from '../retention.js';
import type { ArchivePage, EndCounts, ListedRun } from '../store/run-archive.js';
import {
  type DefinitionOfTenant,
  encodeCursor,
  firstNumberAfter,
  type RunQuery,
  type RunStatusFilter,
} from './run-query.js';
import { listLabels, matchesLabels } from '../../common/wire/labels.js';
import { matchesStartedBy } from '../../common/wire/started-by.js';
import type { RunCountsSchema, RunPageSchema } from '../../common/wire/run.js';
import type { Shape } from '../../common/wire/shape.js';

export interface RunPage extends Shape<typeof RunPageSchema> {}

/** The number of runs by status. `paused` are those of `running` that wait at a breakpoint. */
export interface RunCounts extends Shape<typeof RunCountsSchema> {}

/** Adds what a store has counted to what is in memory. */
export function addArchived(
  { counts, oldestAt, ...collected }: CollectedRuns,
  ends: EndCounts,
  archivedOldestAt: number | undefined,
): CollectedRuns {
  return {
    ...collected,
    counts: counts && {
      ...counts,
      succeeded: counts.succeeded + ends.succeeded,
      failed: counts.failed + ends.failed,
      cancelled: counts.cancelled + ends.cancelled,
    },
    oldestAt: archivedOldestAt ?? oldestAt,
  };
}

/** The parts of a page besides its runs. */
interface PageFacts {
  readonly queue: RunPage['queue'];
  /** Of the settled runs that are kept. */
  readonly limits: RetentionLimits;
  /** Settled runs that no list has yet. */
  readonly migrating: number;
}

/** Adds to a page what the query asks for besides, and how much it lacks. */
export function completePage(
  page: Pick<RunPage, 'runs' | 'next_cursor'>,
  { counts, oldestAt }: CollectedRuns,
  { queue, limits, migrating }: PageFacts,
): RunPage {
  return {
    ...page,
    ...(counts && queue && { counts, queue, retention: describeRetention(limits, oldestAt) }),
    ...(migrating > 0 && { migrating }),
  };
}

function describeRetention(
  { ttlMs, maxRuns, maxBytes = Number.POSITIVE_INFINITY }: RetentionLimits,
  oldestAt: number | undefined,
): NonNullable<RunPage['retention']> {
  return {
    oldest: oldestAt === undefined ? null : toIsoTime(oldestAt),
    max_age_seconds: toLimit(ttlMs / 1000),
    max_runs: toLimit(maxRuns),
    max_bytes: toLimit(maxBytes),
  };
}

function toLimit(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

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

/** A run in memory, with its place in the order of submissions. */
interface RunInMemory {
  readonly sequence: number;
  readonly run: BaseRun;
}

/** Says what a run waits for; null when it does not. */
type WaitOf<E> = (entry: E) => WaitingFor | null;

const NO_WAIT = (): null => null;

/** The runs of a page that are in memory, and perhaps one more. */
export interface CollectedRuns extends ArchivePage {
  /** Set when the query asks for counts. */
  readonly counts: RunCounts | undefined;
  /** When the oldest settled run of the tenants was submitted; undefined when none is there, or the query asks for no counts. */
  readonly oldestAt: number | undefined;
}

/**
 * Collects the runs of one page that are in memory, in steps: there may be a million. It continues where the previous page
 * ended, even if runs were added or forgotten meanwhile. Each run is as it was when it was looked at.
 *
 * @param entries the newest first
 * @throws WavetrainError `invalid_request` for a malformed cursor
 */
export function* collectRuns<E extends RunInMemory>(
  entries: Iterable<E>,
  query: RunQuery,
  waitOf: WaitOf<E> = NO_WAIT,
): Steps<CollectedRuns> {
  const before = firstNumberAfter(query);
  const filter = new RunFilter(query);
  const page = new PageOfRuns(query.limit);
  const counts = query.counts === true ? { ...NO_RUNS } : undefined;
  let oldestAt: number | undefined;
  let cost = 0;
  for (const entry of entries) {
    const { run, sequence } = entry;
    if (counts !== undefined && run.isSettled && filter.acceptsTenant(run)) oldestAt = run.createdAt;
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
    page.add({ number: sequence, summary: toRunSummary(run, waitOf(entry)) });
    if (page.isComplete && counts === undefined) break;
  }
  return { runs: page.runs, searchedTo: page.isComplete ? page.last : undefined, counts, oldestAt };
}

/**
 * Merges the runs in memory with settled ones. A run that has settled between the two reads is in both: it is shown settled.
 * The page has at most `limit` runs and about 1 MiB, but at least one run unless none was found.
 */
export function mergePages(
  memory: ArchivePage,
  archived: ArchivePage,
  limit: number,
): Pick<RunPage, 'runs' | 'next_cursor'> {
  const byNumber = new Map<number, ListedRun>();
  for (const run of [...memory.runs, ...archived.runs]) byNumber.set(run.number, run);
  const searchedTo = Math.max(memory.searchedTo ?? 0, archived.searchedTo ?? 0);
  const page = new PageOfRuns(limit);
  for (const run of [...byNumber.values()].sort((a, b) => b.number - a.number)) {
    if (run.number < searchedTo || page.isComplete) break;
    page.add(run);
  }
  const next = page.isComplete ? page.last : searchedTo;
  return {
    runs: page.runs.map(({ summary }) => summary),
    next_cursor: next === 0 ? null : encodeCursor(next),
  };
}

const NO_RUNS: RunCounts = { queued: 0, running: 0, paused: 0, succeeded: 0, failed: 0, cancelled: 0 };

function count(counts: Record<RunStatusFilter, number>, run: BaseRun): void {
  const { status } = run;
  counts[status]++;
  if (status === 'running' && run.isPaused) counts.paused++;
}

/** Applies the filters of a query; `collectRuns` applies order and cursor. */
class RunFilter {
  readonly #query: RunQuery;
  readonly #tenants: ReadonlySet<string> | undefined;
  readonly #finds: ReturnType<typeof createTextFinder> | undefined;
  /** The searched text, as a part of an id. */
  readonly #id: string;
  /** The beginning or the end of an id. */
  readonly #idPart: string | undefined;

  constructor(query: RunQuery) {
    const { tenants, text, id } = query;
    this.#idPart = id?.toLowerCase();
    this.#id = text?.toLowerCase() ?? '';
    this.#query = query;
    this.#tenants = tenants && new Set(tenants);
    this.#finds =
      text === undefined || text === '' ? undefined : createTextFinder(text, LISTING_LIMITS.searchedLength);
  }

  /** Returns the cost of searching a run: a text of repeated letters is compared at each place of the searched text. */
  searchCost({ goal, status, failures, labels }: BaseRun): number {
    if (this.#finds === undefined) return 0;
    const { text = '' } = this.#query;
    const searched =
      Math.min(goal.length, LISTING_LIMITS.searchedLength) +
      Object.keys(labels).length * LABEL_LIMITS.textLength;
    const comparisons = text.length * (searched + (status === 'failed' ? LISTING_LIMITS.searchedLength : 0));
    return SEARCH_COST + failures.length / FAILURES_PER_COST + comparisons / COMPARISONS_PER_COST;
  }

  /** Returns true when a run passes all filters but that of its status. */
  accepts(run: BaseRun): boolean {
    const { pipeline_id, trigger, startedBy, labels, createdAfterMs, createdBeforeMs } = this.#query;
    if (!this.acceptsTenant(run)) return false;
    if (pipeline_id !== undefined && run.definitionId !== pipeline_id) return false;
    if (trigger !== undefined && run.trigger !== trigger) return false;
    if (startedBy !== undefined && !matchesStartedBy(startedBy, run.startedBy)) return false;
    if (labels !== undefined && !matchesLabels(labels, run.labels)) return false;
    if (createdAfterMs !== undefined && run.createdAt < createdAfterMs) return false;
    if (createdBeforeMs !== undefined && run.createdAt >= createdBeforeMs) return false;
    const { id, definitionId, goal, error } = run;
    if (this.#idPart !== undefined && !(id.startsWith(this.#idPart) || id.endsWith(this.#idPart)))
      return false;
    if (this.#finds === undefined) return true;
    if (this.#finds([definitionId, goal, error ?? '', ...listLabels(run.labels)])) return true;
    return (
      this.#id.length >= LISTING_LIMITS.idPartLength && (id.startsWith(this.#id) || id.endsWith(this.#id))
    );
  }

  acceptsTenant({ tenantId }: BaseRun): boolean {
    return this.#tenants === undefined || this.#tenants.has(tenantId);
  }

  acceptsStatus(run: BaseRun): boolean {
    const { status } = this.#query;
    if (status === 'paused') return run.status === 'running' && run.isPaused;
    return status === undefined || run.status === status;
  }
}

class PageOfRuns {
  readonly runs: ListedRun[] = [];
  isComplete = false;
  /** The number of the last run of the page. */
  last = 0;
  readonly #limit: number;
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(run: ListedRun): void {
    this.#bytes += Buffer.byteLength(JSON.stringify(run.summary));
    const isFull = this.runs.length === this.#limit || (this.#bytes > MAX_PAGE_BYTES && this.runs.length > 0);
    if (isFull) {
      this.isComplete = true;
      return;
    }
    this.runs.push(run);
    this.last = run.number;
  }
}

/** The last runs in memory of each of some definitions, in one walk, in steps. @param entries the newest first */
export function* collectLastRuns<D extends DefinitionOfTenant>(
  entries: Iterable<RunInMemory>,
  definitions: readonly D[],
  most: number,
): Steps<Map<D, ListedRun[]>> {
  const found = new Map<D, ListedRun[]>(definitions.map((definition) => [definition, []]));
  const byTenant = new Map<string, Map<string, ListedRun[]>>();
  for (const [{ tenantId, id }, runs] of found) {
    const ofTenant = byTenant.get(tenantId) ?? new Map<string, ListedRun[]>();
    byTenant.set(tenantId, ofTenant.set(id, runs));
  }
  let missing = definitions.length * most;
  let looked = 0;
  for (const { run, sequence } of entries) {
    if (missing === 0) break;
    if (++looked % STEP_COST === 0) yield;
    const runs = byTenant.get(run.tenantId)?.get(run.definitionId);
    if (runs === undefined || runs.length === most) continue;
    runs.push({ number: sequence, summary: toRunSummary(run) });
    missing--;
  }
  return found;
}
