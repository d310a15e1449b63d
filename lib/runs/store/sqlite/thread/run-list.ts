import type Database from 'libsql';
import type { Clock } from '../../../../common/clock.js';
import { LISTING_LIMITS } from '../../../../common/limits.js';
import {
  MIN_ID_LENGTH,
  type DefinitionOfTenant,
  type RunQuery,
  type RunStatusFilter,
} from '../../../views/run-query.js';
import type { ArchivePage, EndCounts, ListedRun, ArchiveRange } from '../../run-archive.js';
import { END_STATES, NO_ENDS, STATES, SUMMARY_COLUMNS, type SummaryRow, toListedRun } from './run-columns.js';
import { selectAll, selectOne } from './statements.js';

/** With more subqueries, the planner takes longer than a walk through the runs. */
const MAX_SOURCES = 20;

/** A search looks at so many numbers of runs before it looks at the time. */
const SLICE_NUMBERS = 50_000;

/** A search ends after this time, in milliseconds: others wait for the thread. */
const SEARCH_MS = 100;

/** Runs whose ids begin with a text. */
const MAX_IDS = 1000;

/** A part of the runs that a query selects, in the order of their numbers in one index. */
interface Source {
  /** Tables, of which `run` is one. */
  readonly from: string;
  readonly where: string;
  readonly values: readonly unknown[];
}

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
  const startedAt = clock.monotonicNow();
  for (let high = bounds.high; high > bounds.low; ) {
    const low = plan.isSearch ? Math.max(bounds.low, high - SLICE_NUMBERS) : bounds.low;
    const found = selectNumbers(database, plan.sources, { low, high }, limit - numbers.length);
    numbers.push(...found);
    high = low;
    if (numbers.length >= limit) break;
    const isLate = clock.monotonicNow() - startedAt > SEARCH_MS;
    if (isLate && high > bounds.low) return { runs: readRows(database, numbers), searchedTo: high };
  }
  return { runs: readRows(database, numbers) };
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
  const plan = planSources(database, everyStatus);
  if (plan.isWholeTenants && before === Number.POSITIVE_INFINITY) {
    return { counts: countTenants(database, query), next: undefined };
  }
  const counts = { ...NO_ENDS };
  const bounds = readBounds(database, query, before);
  const startedAt = clock.monotonicNow();
  let { high } = bounds;
  while (high > bounds.low && clock.monotonicNow() - startedAt <= SEARCH_MS) {
    const low = Math.max(bounds.low, high - SLICE_NUMBERS);
    for (const { from, where, values } of plan.sources) {
      const rows = selectAll<{ state: number; runs: number }>(
        database,
        `SELECT run.state AS state, count(*) AS runs FROM ${from} WHERE ${where} AND run.number >= ? AND run.number < ? GROUP BY 1`,
        ...values,
        low,
        high,
      );
      for (const { state, runs } of rows) counts[STATES[state] as keyof EndCounts] += runs;
    }
    high = low;
  }
  return { counts, next: high > bounds.low ? high : undefined };
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

/** The last runs of each definition. */
export function readLastRuns(
  database: Database.Database,
  definitions: readonly DefinitionOfTenant[],
  most: number,
): readonly (readonly ListedRun[])[] {
  return definitions.map(({ tenantId, id }) => {
    const { sources } = planSources(database, { tenants: [tenantId], pipeline_id: id, limit: most });
    return readRows(database, selectNumbers(database, sources, { low: 0, high: MAX_NUMBER }, most));
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

interface SourcePlan {
  readonly sources: readonly Source[];
  /** True when runs of the sources may not match, so that many are to be looked at. */
  readonly isSearch: boolean;
  /** True when the query selects all runs of its tenants. */
  readonly isWholeTenants: boolean;
}

function planSources(database: Database.Database, query: RunQuery): SourcePlan {
  const { status, pipeline_id: pipelineId, startedBy, text = '' } = query;
  const tenants = query.tenants ?? listTenants(database);
  const states = status === undefined ? END_STATES : [toState(status)].filter((n) => n > 0);
  const filter = new Filter(query);
  const textTable = 'CROSS JOIN run_text ON run_text.tenant = run.tenant AND run_text.number = run.number';
  const sources: Source[] = [];
  const add = (from: string, where: string, values: readonly unknown[]): void => {
    sources.push({ from, where: `${where}${filter.where}`, values: [...values, ...filter.values] });
  };
  const join = text === '' ? '' : ` ${textTable}`;
  const isStarterIndexed = startedBy?.name !== undefined;
  for (const tenant of tenants) {
    if (pipelineId !== undefined) {
      for (const state of states) {
        const where = 'run.tenant = ? AND run.pipeline = ? AND run.state = ? AND run.state > 0';
        add(`run INDEXED BY run_by_pipeline${join}`, where, [tenant, pipelineId, state]);
      }
    } else if (isStarterIndexed) {
      const where = 'run.tenant = ? AND run.starter = ? AND run.starter_name = ? AND run.state > 0';
      add(`run INDEXED BY run_by_starter${join}`, where, [tenant, startedBy.kind, startedBy.name]);
    } else if (text === '') {
      for (const state of states) {
        add('run INDEXED BY run_by_state', 'run.tenant = ? AND run.state = ? AND run.state > 0', [
          tenant,
          state,
        ]);
      }
    } else {
      const from = 'run_text CROSS JOIN run ON run.number = run_text.number';
      add(from, 'run_text.tenant = ? AND run.state > 0', [tenant]);
    }
  }
  const isTooMany = sources.length > MAX_SOURCES;
  const all = isTooMany ? [scanSource(query, tenants, filter)] : sources;
  return {
    sources: text === '' ? all : [...all, ...idSource(query, tenants)],
    isSearch: isTooMany || filter.where !== '',
    isWholeTenants:
      pipelineId === undefined && startedBy === undefined && filter.where === '' && !hasTimes(query),
  };
}

function hasTimes({ createdAfterMs, createdBeforeMs }: RunQuery): boolean {
  return createdAfterMs !== undefined || createdBeforeMs !== undefined;
}

/** Walks through all runs, for more tenants than a union can have parts. */
function scanSource(query: RunQuery, tenants: readonly string[], filter: Filter): Source {
  const conditions = ['run.state > 0', 'run.tenant IN (SELECT value FROM json_each(?))'];
  const values: unknown[] = [JSON.stringify(tenants)];
  if (query.pipeline_id !== undefined) {
    conditions.push('run.pipeline = ?');
    values.push(query.pipeline_id);
  }
  const { text = '', startedBy } = query;
  if (startedBy?.name !== undefined) {
    conditions.push('run.starter = ? AND run.starter_name = ?');
    values.push(startedBy.kind, startedBy.name);
  }
  if (query.status !== undefined) {
    conditions.push('run.state = ?');
    values.push(toState(query.status));
  }
  const join =
    text === ''
      ? ''
      : ' CROSS JOIN run_text ON run_text.tenant = run.tenant AND run_text.number = run.number';
  return {
    from: `run NOT INDEXED${join}`,
    where: `${conditions.join(' AND ')}${filter.where}`,
    values: [...values, ...filter.values],
  };
}

/** The runs whose ids begin with the searched text. */
function idSource(query: RunQuery, tenants: readonly string[]): Source[] {
  const prefix = (query.text ?? '').toLowerCase();
  if (prefix.length < MIN_ID_LENGTH || !/^[0-9a-f-]+$/.test(prefix)) return [];
  const filter = new Filter({ ...query, text: undefined });
  const status = query.status === undefined ? '' : ' AND run.state = ?';
  const pipeline = query.pipeline_id === undefined ? '' : ' AND run.pipeline = ?';
  return [
    {
      from: `(SELECT * FROM run WHERE id >= ? AND id < ? AND removed = 0 ORDER BY id DESC LIMIT ${MAX_IDS}) AS run`,
      where: `run.state > 0 AND run.tenant IN (SELECT value FROM json_each(?))${status}${pipeline}${filter.where}`,
      values: [
        prefix,
        `${prefix}g`,
        JSON.stringify(tenants),
        ...(query.status === undefined ? [] : [toState(query.status)]),
        ...(query.pipeline_id === undefined ? [] : [query.pipeline_id]),
        ...filter.values,
      ],
    },
  ];
}

/** Returns -1 for a status that no settled run has. */
function toState(status: RunStatusFilter): number {
  return STATES.findIndex((each) => each === status);
}

/** The conditions of a query that no index has. */
class Filter {
  readonly where: string;
  readonly values: readonly unknown[];

  constructor({ trigger, startedBy, text = '' }: RunQuery) {
    const conditions: string[] = [];
    const values: unknown[] = [];
    const add = (condition: string, value: unknown): void => {
      conditions.push(` AND ${condition}`);
      values.push(value);
    };
    if (text !== '')
      add('instr(run_text.text, ?) > 0', text.slice(0, LISTING_LIMITS.textLength).toLowerCase());
    if (trigger !== undefined) add('run.trigger = ?', trigger);
    if (startedBy !== undefined && startedBy.name === undefined) add('run.starter = ?', startedBy.kind);
    this.where = conditions.join('');
    this.values = values;
  }
}

function listTenants(database: Database.Database): readonly string[] {
  return selectAll<{ tenant: string }>(database, 'SELECT tenant FROM usage').map(({ tenant }) => tenant);
}

/** Selects the largest numbers of the sources within the bounds. */
function selectNumbers(
  database: Database.Database,
  sources: readonly Source[],
  { low, high }: Bounds,
  limit: number,
): number[] {
  if (sources.length === 0) return [];
  const parts = sources.map(
    ({ from, where }) =>
      `SELECT * FROM (SELECT run.number AS number FROM ${from} WHERE ${where} AND run.number >= ? AND run.number < ?
       ORDER BY ${from.startsWith('run_text') ? 'run_text' : 'run'}.number DESC LIMIT ?)`,
  );
  const values = sources.flatMap((source) => [...source.values, low, Math.min(high, MAX_NUMBER), limit]);
  const sql = `SELECT DISTINCT number FROM (${parts.join(' UNION ALL ')}) ORDER BY number DESC LIMIT ?`;
  return selectAll<{ number: number }>(database, sql, ...values, limit).map(({ number }) => number);
}

/** Reads the rows of the numbers, in their order. */
function readRows(database: Database.Database, numbers: readonly number[]): ListedRun[] {
  return numbers.flatMap((number) => {
    const row = selectOne<SummaryRow>(
      database,
      `SELECT ${SUMMARY_COLUMNS} FROM run WHERE number = ?`,
      number,
    );
    return row === undefined || row.state === 0 ? [] : [toListedRun(row)];
  });
}
