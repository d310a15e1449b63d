import type Database from 'libsql';
import { LISTING_LIMITS } from '../../../../common/limits.js';
import { MIN_ID_LENGTH, type RunQuery, type RunStatusFilter } from '../../../views/run-query.js';
import { END_STATES, STATES } from '../run-columns.js';
import { selectAll, selectOne } from '../statements.js';

/** With more subqueries, the planner takes longer than a walk through the runs. */
const MAX_SOURCES = 20;

/** Runs whose ids begin with a text. */
const MAX_IDS = 1000;

/** To find the index with the fewest runs, no more are counted. */
const MAX_COUNTED = 1000;

/** A part of the runs that a query selects, in the order of their numbers in one index. */
export interface RunSource {
  /** Tables, of which `run` is one. */
  readonly from: string;
  readonly where: string;
  readonly values: readonly unknown[];
  /** The column with the numbers of the runs in the index. */
  readonly number: string;
}

interface SourcePlan {
  readonly sources: readonly RunSource[];
  /** True when runs of the sources may not match, so that many are to be looked at. */
  readonly isSearch: boolean;
  /** True when the query selects all runs of its tenants. */
  readonly isWholeTenants: boolean;
}

/** Divides the runs that a query selects. Its times are not considered. */
export function planSources(database: Database.Database, query: RunQuery): SourcePlan {
  const { status, text = '' } = query;
  const tenants = query.tenants ?? listTenants(database);
  const states = status === undefined ? END_STATES : [toState(status)].filter((state) => state > 0);
  const conditions = listConditions(query);
  const isWholeTenants = conditions.length === 0;
  if (states.length === 0) return { sources: [], isSearch: false, isWholeTenants };
  const index = chooseIndex(database, query, tenants);
  const filter = conditions.filter((condition) => !isSame(condition, index.condition));
  if (!index.hasStates && status !== undefined) filter.push(hasState(status));
  const sources = tenants.flatMap((tenant) =>
    index.hasStates
      ? states.map((state) => toSource(index, tenant, state, filter, text))
      : [toSource(index, tenant, undefined, filter, text)],
  );
  const isTooMany = sources.length > MAX_SOURCES;
  const parts = isTooMany ? [scanSource(tenants, conditions, query)] : sources;
  return {
    sources: [...parts, ...idSource(tenants, query)],
    isSearch: isTooMany || filter.length > 0,
    isWholeTenants,
  };
}

function listTenants(database: Database.Database): readonly string[] {
  return selectAll<{ tenant: string }>(database, 'SELECT tenant FROM usage').map(({ tenant }) => tenant);
}

/** Returns -1 for a status that no settled run has. */
function toState(status: RunStatusFilter): number {
  return STATES.findIndex((each) => each === status);
}

interface Condition {
  readonly sql: string;
  readonly values: readonly unknown[];
}

function isSame(condition: Condition, other: Condition | undefined): boolean {
  return condition.sql === other?.sql && condition.values.every((value, n) => value === other.values[n]);
}

const hasState = (status: RunStatusFilter): Condition => ({
  sql: 'run.state = ?',
  values: [toState(status)],
});

/** The conditions of a query on a run, but for its tenant, its status and its times. */
function listConditions({ text = '', ...query }: RunQuery): Condition[] {
  const { trigger, startedBy } = query;
  const conditions = listIndexed(query).map(({ condition }) => condition);
  if (text !== '') conditions.push({ sql: 'instr(run_text.text, ?) > 0', values: [toSearched(text)] });
  if (trigger !== undefined) conditions.push({ sql: 'run.trigger = ?', values: [trigger] });
  if (startedBy !== undefined && startedBy.name === undefined) {
    conditions.push({ sql: 'run.starter = ?', values: [startedBy.kind] });
  }
  return conditions;
}

function toSearched(text: string): string {
  return text.slice(0, LISTING_LIMITS.textLength).toLowerCase();
}

/** An index that has the runs of a tenant in the order of their numbers. */
interface RunsIndex {
  readonly from: string;
  /** Of the columns of the index. */
  readonly table: string;
  /** True when the state of the run is part of the index, before its number. */
  readonly hasStates: boolean;
  /** What the index selects, and the same in its own columns if it has others. */
  readonly condition?: Condition;
  readonly selected?: string;
}

const BY_STATE: RunsIndex = { from: 'run INDEXED BY run_by_state', table: 'run', hasStates: true };

/** The text of each run of a tenant is looked at. */
const BY_TEXT: RunsIndex = {
  from: 'run_text CROSS JOIN run ON run.number = run_text.number',
  table: 'run_text',
  hasStates: false,
};

interface IndexedCondition extends RunsIndex {
  readonly condition: Condition;
}

/** The conditions of a query for which there is an index. */
function listIndexed({ pipeline_id: pipeline, startedBy, labels = [] }: RunQuery): IndexedCondition[] {
  const indexed: IndexedCondition[] = [];
  if (pipeline !== undefined) {
    const condition = { sql: 'run.pipeline = ?', values: [pipeline] };
    indexed.push({ from: 'run INDEXED BY run_by_pipeline', table: 'run', hasStates: true, condition });
  }
  if (startedBy?.name !== undefined) {
    const condition = {
      sql: 'run.starter = ? AND run.starter_name = ?',
      values: [startedBy.kind, startedBy.name],
    };
    indexed.push({ from: 'run INDEXED BY run_by_starter', table: 'run', hasStates: false, condition });
  }
  for (const label of new Set(labels)) {
    indexed.push({
      from: 'label CROSS JOIN run ON run.number = label.number',
      table: 'label',
      hasStates: true,
      condition: { sql: HAS_LABEL, values: [label] },
      selected: 'label.label = ?',
    });
  }
  return indexed;
}

const HAS_LABEL = `EXISTS (SELECT 1 FROM label AS other
  WHERE other.tenant = run.tenant AND other.label = ? AND other.state = run.state AND other.number = run.number)`;

/** Chooses the index that selects the fewest runs. */
function chooseIndex(database: Database.Database, query: RunQuery, tenants: readonly string[]): RunsIndex {
  const indexed = listIndexed(query);
  const [first, ...others] = indexed;
  if (first === undefined) return query.text === undefined || query.text === '' ? BY_STATE : BY_TEXT;
  if (others.length === 0) return first;
  let chosen = first;
  let fewest = Number.POSITIVE_INFINITY;
  for (const index of indexed) {
    const runs = countIndexed(database, index, tenants);
    if (runs < fewest) [chosen, fewest] = [index, runs];
  }
  return chosen;
}

/** Counts the runs that an index selects, as far as `MAX_COUNTED`. */
function countIndexed(
  database: Database.Database,
  { from, table, condition, selected = condition.sql }: IndexedCondition,
  tenants: readonly string[],
): number {
  const [ofIndex = from] = from.split(' CROSS JOIN ');
  const row = selectOne<{ runs: number }>(
    database,
    `SELECT count(*) AS runs FROM (SELECT 1 FROM ${ofIndex}
     WHERE ${table}.tenant IN (SELECT value FROM json_each(?)) AND ${selected} AND ${table}.state > 0 LIMIT ${MAX_COUNTED})`,
    JSON.stringify(tenants),
    ...condition.values,
  );
  return row?.runs ?? 0;
}

/** @param state undefined for all */
function toSource(
  { from, table, condition, selected = condition?.sql }: RunsIndex,
  tenant: string,
  state: number | undefined,
  filter: readonly Condition[],
  text: string,
): RunSource {
  const conditions: Condition[] = [{ sql: `${table}.tenant = ?`, values: [tenant] }];
  if (condition !== undefined && selected !== undefined) conditions.push({ ...condition, sql: selected });
  if (state !== undefined) conditions.push({ sql: `${table}.state = ?`, values: [state] });
  const isJoined = text === '' || table === BY_TEXT.table;
  return createSource(isJoined ? from : from + WITH_TEXT, [...conditions, ...filter], table);
}

const WITH_TEXT = ' CROSS JOIN run_text ON run_text.tenant = run.tenant AND run_text.number = run.number';

function createSource(from: string, conditions: readonly Condition[], table: string): RunSource {
  return {
    from,
    // The indexes have settled runs only.
    where: ['run.state > 0', ...conditions.map(({ sql }) => sql)].join(' AND '),
    values: conditions.flatMap(({ values }) => values),
    number: `${table}.number`,
  };
}

/** Walks through all runs, for more tenants than a union can have parts. */
function scanSource(
  tenants: readonly string[],
  conditions: readonly Condition[],
  { status, text = '' }: RunQuery,
): RunSource {
  const all = [isOf(tenants), ...conditions, ...(status === undefined ? [] : [hasState(status)])];
  return createSource(`run NOT INDEXED${text === '' ? '' : WITH_TEXT}`, all, 'run');
}

function isOf(tenants: readonly string[]): Condition {
  return { sql: 'run.tenant IN (SELECT value FROM json_each(?))', values: [JSON.stringify(tenants)] };
}

/** The runs whose ids begin with the searched text, but for those that have it elsewhere: no run is counted twice. */
function idSource(tenants: readonly string[], { text = '', status, ...query }: RunQuery): RunSource[] {
  const prefix = text.toLowerCase();
  if (prefix.length < MIN_ID_LENGTH || !/^[0-9a-f-]+$/.test(prefix)) return [];
  const conditions = [
    isOf(tenants),
    ...listConditions(query),
    ...(status === undefined ? [] : [hasState(status)]),
    {
      sql: `NOT EXISTS (SELECT 1 FROM run_text WHERE run_text.tenant = run.tenant AND run_text.number = run.number
      AND instr(run_text.text, ?) > 0)`,
      values: [toSearched(text)],
    },
  ];
  const from = `(SELECT * FROM run WHERE id >= ? AND id < ? AND removed = 0 ORDER BY id DESC LIMIT ${MAX_IDS}) AS run`;
  const source = createSource(from, conditions, 'run');
  return [{ ...source, values: [prefix, `${prefix}g`, ...source.values] }];
}
