import type Database from 'libsql';
import type { Clock } from '../../../../common/clock.js';
import type { DefinitionOfTenant, RunQuery } from '../../../views/run-query.js';
import type { ArchivePage, EndCounts, ListedRun, ArchiveRange } from '../../run-archive.js';
import { END_STATES, NO_ENDS, STATES, SUMMARY_COLUMNS, type SummaryRow, toListedRun } from './run-columns.js';
import { planSources, selectsWholeTenants, type ListSource, type SourcePlan } from './list-sources.js';
import { selectAll, selectOne } from './statements.js';

/**
 * Nothing interrupts a statement. So many places in indexes are looked at with one at most, and fewer first: more while that
 * takes less than `SLICE_MS`.
 */
const MOST_ROWS = 2000;
const FIRST_ROWS = 500;
const LEAST_ROWS = 100;
const SLICE_MS = 10;

/** Bytes of texts that one statement searches, unless `LEAST_ROWS` have more. */
const SEARCHED_BYTES = 2 ** 20;

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
  if (bounds.high <= bounds.low) return { runs: [] };
  const plan = planSources(database, query);
  const numbers: number[] = [];
  const slices = new SearchSlices(database, plan, bounds.low, clock);
  for (let high = bounds.high; high > bounds.low; ) {
    const low = plan.isSearch ? slices.next(high) : bounds.low;
    const found = selectNumbers(database, plan.sources, { low, high }, limit - numbers.length);
    numbers.push(...found);
    high = low;
    if (numbers.length >= limit) break;
    if (slices.isLate() && high > bounds.low) return { searchedTo: high, ...readRows(database, numbers) };
  }
  return readRows(database, numbers);
}

/** The slices of one search, each of which one statement looks at, and its time. */
class SearchSlices {
  readonly #database: Database.Database;
  readonly #plan: SourcePlan;
  readonly #end: number;
  readonly #clock: Clock;
  readonly #startedAt: number;
  #sliceAt: number;
  #rows = FIRST_ROWS / 2;

  constructor(database: Database.Database, plan: SourcePlan, end: number, clock: Clock) {
    this.#database = database;
    this.#plan = plan;
    this.#end = end;
    this.#clock = clock;
    this.#startedAt = clock.monotonicNow();
    this.#sliceAt = this.#startedAt;
  }

  /** Returns the smallest number of the slice below a number: numbers say nothing about how many runs are to be looked at. */
  next(high: number): number {
    const now = this.#clock.monotonicNow();
    const rows = now - this.#sliceAt < SLICE_MS ? 2 * this.#rows : this.#rows / 2;
    this.#sliceAt = now;
    this.#rows = Math.max(LEAST_ROWS, Math.min(rows, MOST_ROWS / this.#plan.cost));
    for (;;) {
      const { low, bytes } = this.#measure(high);
      if (bytes <= SEARCHED_BYTES || this.#rows <= LEAST_ROWS) return low;
      this.#rows = Math.max(LEAST_ROWS, this.#rows * Math.min(1 / 2, SEARCHED_BYTES / bytes));
    }
  }

  /** Measures the next `#rows` below a number that the sources look at: how far they come, and the bytes of their texts. */
  #measure(high: number): { readonly low: number; readonly bytes: number } {
    const { sources } = this.#plan;
    if (sources.length === 0) return { low: this.#end, bytes: 0 };
    // In the order of the numbers: SQLite merges the indexes, and reads no more of each than it needs.
    const walks = sources.map(
      ({ walk, ordered, hasText }) =>
        `SELECT ${ordered}.number AS number, ${hasText ? 'octet_length(run_text.text)' : '0'} AS bytes
         FROM ${walk.sql} AND ${ordered}.number >= ? AND ${ordered}.number < ?`,
    );
    const most = Math.floor(this.#rows);
    const measured = selectOne<{ rows: number; low: number | null; bytes: number }>(
      this.#database,
      `SELECT count(*) AS rows, min(number) AS low, total(bytes) AS bytes
       FROM (${walks.join(' UNION ALL ')} ORDER BY number DESC LIMIT ?)`,
      ...sources.flatMap(({ walk }) => [...walk.values, this.#end, Math.min(high, MAX_NUMBER)]),
      most,
    );
    const { rows = 0, low, bytes = 0 } = measured ?? {};
    return { low: rows < most ? this.#end : (low ?? this.#end), bytes };
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
  const counts = { ...NO_ENDS };
  const bounds = readBounds(database, query, before);
  if (bounds.high <= bounds.low) return { counts, next: undefined };
  const plan = planSources(database, everyStatus);
  const slices = new SearchSlices(database, plan, bounds.low, clock);
  let { high } = bounds;
  do {
    const low = slices.next(high);
    for (const { state, runs } of countSources(database, plan, { low, high })) {
      counts[STATES[state] as keyof EndCounts] += runs;
    }
    high = low;
  } while (high > bounds.low && !slices.isLate());
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
