import type Database from 'libsql';
import type { Clock } from '../../../../common/clock.js';
import type { DefinitionOfTenant, RunQuery } from '../../../views/run-query.js';
import type { ArchivePage, EndCounts, ListedRun, ArchiveRange } from '../../run-archive.js';
import { END_STATES, NO_ENDS, STATES, SUMMARY_COLUMNS, type SummaryRow, toListedRun } from './run-columns.js';
import { planSources, selectsWholeTenants, type ListSource, type SourcePlan } from './list-sources.js';
import { selectAll, selectOne } from './statements.js';

/** A search looks at so many numbers of runs at first, and at more while that takes less than `SLICE_MS`. */
const FIRST_SLICE = 1000;
const SLICE_MS = 10;

/** Bytes of the long texts of one page: a page ends early rather than being larger. */
const PAGE_LENGTH = 1024 * 1024;

/** A search ends after this time, in milliseconds: others wait for the thread. */
const SEARCH_MS = 100;

/**
 * One page of settled runs. Each list is the union of parts with an order that an index has: no page depends on the number of
 * runs. Where a filter has no index, the page may end early.
 */
export function readPage(
  database: Database.Database,
  query: RunQuery,
  { before, limit }: ArchiveRange,
  clock: Clock,
): ArchivePage {
  const bounds = readBounds(database, query, before);
  const plan = planSources(database, query);
  const numbers: number[] = [];
  const slices = new SearchSlices(clock);
  for (let high = bounds.high; high > bounds.low; ) {
    const low = plan.isSearch ? Math.max(bounds.low, high - slices.next()) : bounds.low;
    const found = selectNumbers(database, plan.sources, { low, high }, limit - numbers.length);
    numbers.push(...found);
    high = low;
    if (numbers.length >= limit) break;
    if (slices.isLate() && high > bounds.low) return { searchedTo: high, ...readRows(database, numbers) };
  }
  return readRows(database, numbers);
}

/** The sizes of the slices of one search, and its time. */
class SearchSlices {
  readonly #clock: Clock;
  readonly #startedAt: number;
  #sliceAt: number;
  #size = FIRST_SLICE / 2;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.monotonicNow();
    this.#sliceAt = this.#startedAt;
  }

  /** The numbers of the next slice: twice as many as of the one before, or half of them when that took long. */
  next(): number {
    const now = this.#clock.monotonicNow();
    this.#size = now - this.#sliceAt < SLICE_MS ? 2 * this.#size : Math.max(FIRST_SLICE / 10, this.#size / 2);
    this.#sliceAt = now;
    return Math.floor(this.#size);
  }

  isLate(): boolean {
    return this.#clock.monotonicNow() - this.#startedAt > SEARCH_MS;
  }
}

/** How far a count has come: more runs are below `next`. */
export interface PartialCount {
  readonly counts: EndCounts;
  readonly next: number | undefined;
}

/** Counts the runs below a number by status, for at most about `SEARCH_MS`. */
export function countRuns(
  database: Database.Database,
  query: RunQuery,
  before: number,
  clock: Clock,
): PartialCount {
  const everyStatus = { ...query, status: undefined };
  if (selectsWholeTenants(everyStatus) && before === Number.POSITIVE_INFINITY) {
    return { counts: countTenants(database, query), next: undefined };
  }
  const plan = planSources(database, everyStatus);
  const counts = { ...NO_ENDS };
  const bounds = readBounds(database, query, before);
  const slices = new SearchSlices(clock);
  let { high } = bounds;
  while (high > bounds.low && !slices.isLate()) {
    const low = Math.max(bounds.low, high - slices.next());
    for (const { state, runs } of countSources(database, plan, { low, high })) {
      counts[STATES[state] as keyof EndCounts] += runs;
    }
    high = low;
  }
  return { counts, next: high > bounds.low ? high : undefined };
}

/** Counts by state. A run that two of the sources find counts once. */
function countSources(
  database: Database.Database,
  { sources, overlaps }: SourcePlan,
  { low, high }: Bounds,
): readonly { readonly state: number; readonly runs: number }[] {
  if (sources.length === 0) return [];
  const parts = sources.map(
    ({ from, ordered, where }) =>
      `SELECT run.number AS number, run.state AS state FROM ${from} WHERE ${where} AND ${ordered}.number >= ? AND ${ordered}.number < ?`,
  );
  const sql = `SELECT state, count(*) AS runs FROM (${parts.join(overlaps ? ' UNION ' : ' UNION ALL ')}) GROUP BY state`;
  return selectAll(database, sql, ...sources.flatMap(({ values }) => [...values, low, high]));
}

function countTenants(database: Database.Database, { tenants }: RunQuery): EndCounts {
  const sums = 'total(succeeded) AS succeeded, total(failed) AS failed, total(cancelled) AS cancelled';
  const row =
    tenants === undefined
      ? selectOne<EndCounts>(database, `SELECT ${sums} FROM usage`)
      : selectOne<EndCounts>(
          database,
          `SELECT ${sums} FROM usage WHERE tenant IN (SELECT value FROM json_each(?))`,
          JSON.stringify(tenants),
        );
  return row ?? NO_ENDS;
}

/** When the oldest settled run was accepted: one look into an index for each tenant and state. @param tenants undefined for all */
export function readOldest(
  database: Database.Database,
  tenants: readonly string[] | undefined,
): number | undefined {
  const owners =
    tenants === undefined ? 'SELECT tenant FROM usage' : 'SELECT DISTINCT value AS tenant FROM json_each(?)';
  const firsts = END_STATES.map(
    (state) =>
      `SELECT (SELECT number FROM run INDEXED BY run_by_state
         WHERE run.tenant = owner.tenant AND state = ${state} AND state > 0 ORDER BY number LIMIT 1) AS number FROM owner`,
  );
  const sql = `WITH owner AS (${owners})
    SELECT created_at AS createdAt FROM run WHERE number = (SELECT min(number) FROM (${firsts.join(' UNION ALL ')}))`;
  const values = tenants === undefined ? [] : [JSON.stringify(tenants)];
  return selectOne<{ readonly createdAt: number }>(database, sql, ...values)?.createdAt;
}

/** The last runs of each definition. */
export function readLastRuns(
  database: Database.Database,
  definitions: readonly DefinitionOfTenant[],
  most: number,
): readonly (readonly ListedRun[])[] {
  return definitions.map(({ tenantId, id }) => {
    const { sources } = planSources(database, { tenants: [tenantId], pipeline_id: id, limit: most });
    return readRows(database, selectNumbers(database, sources, { low: 0, high: MAX_NUMBER }, most)).runs;
  });
}

interface Bounds {
  /** The smallest number. */
  readonly low: number;
  /** One more than the largest number. */
  readonly high: number;
}

/** SQLite has no infinity. */
const MAX_NUMBER = Number.MAX_SAFE_INTEGER;

/** Turns times into numbers: runs are numbered in the order of the times at which they were accepted. */
function readBounds(database: Database.Database, query: RunQuery, before: number): Bounds {
  const last = selectOne<{ last: number | null }>(database, 'SELECT max(number) AS last FROM run')?.last ?? 0;
  const { createdAfterMs, createdBeforeMs } = query;
  return {
    low: createdAfterMs === undefined ? 1 : findNumber(database, createdAfterMs, last),
    high: Math.min(
      before,
      createdBeforeMs === undefined ? last + 1 : findNumber(database, createdBeforeMs, last),
    ),
  };
}

/** Returns the smallest number of a run that was accepted at a time or later. */
function findNumber(database: Database.Database, createdAt: number, last: number): number {
  let low = 1;
  let high = last + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = selectOne<{ number: number; created_at: number }>(
      database,
      'SELECT number, created_at FROM run WHERE number >= ? ORDER BY number LIMIT 1',
      middle,
    );
    if (row === undefined || row.created_at >= createdAt) high = middle;
    else low = row.number + 1;
  }
  return low;
}

/** Selects the largest numbers of the sources within the bounds. */
function selectNumbers(
  database: Database.Database,
  sources: readonly ListSource[],
  { low, high }: Bounds,
  limit: number,
): number[] {
  if (sources.length === 0) return [];
  const parts = sources.map(
    ({ from, ordered, where }) =>
      `SELECT * FROM (SELECT run.number AS number FROM ${from} WHERE ${where} AND ${ordered}.number >= ? AND ${ordered}.number < ?
       ORDER BY ${ordered}.number DESC LIMIT ?)`,
  );
  const values = sources.flatMap((source) => [...source.values, low, Math.min(high, MAX_NUMBER), limit]);
  const sql = `SELECT DISTINCT number FROM (${parts.join(' UNION ALL ')}) ORDER BY number DESC LIMIT ?`;
  return selectAll<{ number: number }>(database, sql, ...values, limit).map(({ number }) => number);
}

/** Reads the rows of the numbers, in their order, as far as they fit on a page; the first one in any case. */
function readRows(database: Database.Database, numbers: readonly number[]): ArchivePage {
  const runs: ListedRun[] = [];
  let length = 0;
  for (const number of numbers) {
    const sql = `SELECT ${SUMMARY_COLUMNS} FROM run WHERE number = ?`;
    const row = selectOne<SummaryRow>(database, sql, number);
    if (row === undefined || row.state === 0) continue;
    length += row.goal.length + (row.error?.length ?? 0) + (row.labels?.length ?? 0);
    const last = runs.at(-1);
    if (length > PAGE_LENGTH && last !== undefined) return { runs, searchedTo: last.number };
    runs.push(toListedRun(row));
  }
  return { runs };
}
