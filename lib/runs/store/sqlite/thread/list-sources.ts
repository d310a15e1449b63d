import type Database from 'libsql';
import { LISTING_LIMITS } from '../../../../common/limits.js';
import type { RunQuery, RunStatusFilter } from '../../../views/run-query.js';
import { END_STATES, STATES } from './run-columns.js';
import { selectAll, selectOne } from './statements.js';

/** With more subqueries, the planner takes longer than a walk through the runs. */
const MAX_SOURCES = 20;

/** So many of the runs whose ids begin with some characters are looked at. */
const MAX_IDS = 1000;

/** The tables that have runs in the order of their numbers. */
type OrderedTable = 'run' | 'run_text' | 'label';

/** A condition of SQL, and the values of its parameters. */
interface Condition {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** A part of the runs that a query selects, in the order of their numbers in one index. */
export interface ListSource {
  /** Tables, of which `run` is one. */
  readonly from: string;
  /** The table whose number gives the order. */
  readonly ordered: OrderedTable;
  readonly where: string;
  readonly values: readonly unknown[];
}

export interface SourcePlan {
  readonly sources: readonly ListSource[];
  /** True when runs of the sources may not match, so that many are to be looked at. */
  readonly isSearch: boolean;
  /** True when two sources may find the same run. */
  readonly overlaps: boolean;
}

const TEXT_TABLE = 'CROSS JOIN run_text ON run_text.tenant = run.tenant AND run_text.number = run.number';

/**
 * Chooses the indexes that find the runs of a query. SQLite would rather take an index that gives the order than one that
 * finds the runs, and walk through all of a tenant: each source names its index.
 */
export function planSources(database: Database.Database, query: RunQuery): SourcePlan {
  const tenants = query.tenants ?? listTenants(database);
  const filters = toFilters(query);
  const parts =
    query.id === undefined ? listParts(database, query, tenants) : idParts(query, query.id, tenants, ['id']);
  const isTooMany = parts.length > MAX_SOURCES;
  const chosen = isTooMany ? [scanOf(query, tenants)] : parts;
  const sources = chosen.map((part) => toSource(part, filters));
  const text = (query.text ?? '').toLowerCase();
  const findsIds = isPartOfId(text);
  if (findsIds) {
    const others = { ...query, text: undefined };
    for (const part of idParts(others, text, tenants)) sources.push(toSource(part, toFilters(others)));
  }
  const isIndexed = filters.every(({ name }) => chosen.every((part) => part.covers.includes(name)));
  return { sources, isSearch: isTooMany || !isIndexed, overlaps: findsIds || query.id !== undefined };
}

/** Returns true when a query selects all runs of its tenants. */
export function selectsWholeTenants(query: RunQuery): boolean {
  return (
    toFilters(query).length === 0 && query.createdAfterMs === undefined && query.createdBeforeMs === undefined
  );
}

/** An index, and the filters that it applies by itself. */
interface IndexPart extends Condition {
  readonly from: string;
  readonly ordered: OrderedTable;
  readonly covers: readonly FilterName[];
}

type FilterName = 'id' | 'status' | 'pipeline' | 'starter' | 'trigger' | 'text' | `label ${string}`;

interface NamedFilter extends Condition {
  readonly name: FilterName;
}

function toSource(part: IndexPart, filters: readonly NamedFilter[]): ListSource {
  const { from, ordered } = part;
  const conditions = [part, ...filters.filter(({ name }) => !part.covers.includes(name))];
  return {
    from,
    ordered,
    where: conditions.map(({ sql }) => sql).join(' AND '),
    values: conditions.flatMap(({ values }) => values),
  };
}

/** The filters of a query but for tenants and times. */
function toFilters({
  id,
  labels = [],
  status,
  pipeline_id: pipelineId,
  startedBy,
  trigger,
  text = '',
}: RunQuery): NamedFilter[] {
  const filters: NamedFilter[] = [];
  const add = (name: FilterName, sql: string, ...values: unknown[]): void =>
    void filters.push({ name, sql, values });
  if (id !== undefined)
    add(
      'id',
      '(substr(run.id, 1, ?) = ? OR substr(run.id, ?) = ?)',
      id.length,
      id.toLowerCase(),
      -id.length,
      id.toLowerCase(),
    );
  if (status !== undefined) add('status', 'run.state = ?', toState(status));
  if (pipelineId !== undefined) add('pipeline', 'run.pipeline = ?', pipelineId);
  if (startedBy?.name !== undefined) {
    add('starter', 'run.starter = ? AND run.starter_name = ?', startedBy.kind, startedBy.name);
  } else if (startedBy !== undefined) add('starter', 'run.starter = ?', startedBy.kind);
  for (const label of new Set(labels)) add(`label ${label}`, HAS_LABEL, label);
  if (trigger !== undefined) add('trigger', 'run.trigger = ?', trigger);
  const wanted = text.slice(0, LISTING_LIMITS.textLength).toLowerCase();
  if (wanted !== '') add('text', 'instr(run_text.text, ?) > 0', wanted);
  return filters;
}

/** Reads that a run has a label from the index of labels. */
const HAS_LABEL = `EXISTS (SELECT 1 FROM label AS other
  WHERE other.tenant = run.tenant AND other.label = ? AND other.state = run.state AND other.number = run.number)`;

/** To find the index with the fewest runs, no more are counted. */
const MAX_COUNTED = 1000;

/** One part for each tenant and state, by the index that finds least. */
function listParts(database: Database.Database, query: RunQuery, tenants: readonly string[]): IndexPart[] {
  const [first, ...others] = listIndexed(query, tenants);
  if (first === undefined) return defaultParts(query, tenants);
  let chosen = first;
  let fewest = others.length === 0 ? 0 : countParts(database, first);
  for (const parts of others) {
    const runs = countParts(database, parts);
    if (runs >= fewest) continue;
    chosen = parts;
    fewest = runs;
  }
  return chosen;
}

/** Counts the runs that an index finds, as far as `MAX_COUNTED`. */
function countParts(database: Database.Database, parts: readonly IndexPart[]): number {
  let runs = 0;
  for (const { from, sql, values } of parts.slice(0, MAX_SOURCES)) {
    const counted = `SELECT count(*) AS runs FROM (SELECT 1 FROM ${from} WHERE ${sql} LIMIT ${MAX_COUNTED})`;
    runs += selectOne<{ runs: number }>(database, counted, ...values)?.runs ?? 0;
  }
  return runs;
}

/** The indexes that find the runs of a query, each with its parts. */
function listIndexed(query: RunQuery, tenants: readonly string[]): IndexPart[][] {
  const { pipeline_id: pipelineId, startedBy, labels = [], text = '' } = query;
  const join = text === '' ? '' : ` ${TEXT_TABLE}`;
  const indexed: IndexPart[][] = [];
  if (pipelineId !== undefined) {
    const parts = eachState(query, tenants, (tenant, state) => ({
      from: `run INDEXED BY run_by_pipeline${join}`,
      ordered: 'run',
      sql: 'run.tenant = ? AND run.pipeline = ? AND run.state = ? AND run.state > 0',
      values: [tenant, pipelineId, state],
      covers: ['pipeline', 'status'],
    }));
    indexed.push(parts);
  }
  if (startedBy?.name !== undefined) {
    const { kind, name } = startedBy;
    const parts = tenants.map<IndexPart>((tenant) => ({
      from: `run INDEXED BY run_by_starter${join}`,
      ordered: 'run',
      sql: 'run.tenant = ? AND run.starter = ? AND run.starter_name = ? AND run.state > 0',
      values: [tenant, kind, name],
      covers: ['starter'],
    }));
    indexed.push(parts);
  }
  for (const label of new Set(labels)) {
    const parts = eachState(query, tenants, (tenant, state) => ({
      from: `label CROSS JOIN run ON run.number = label.number${join}`,
      ordered: 'label',
      sql: 'label.tenant = ? AND label.label = ? AND label.state = ?',
      values: [tenant, label, state],
      covers: [`label ${label}`, 'status'],
    }));
    indexed.push(parts);
  }
  return indexed;
}

/** Looks at the text of each run of a tenant, or lists all runs. */
function defaultParts(query: RunQuery, tenants: readonly string[]): IndexPart[] {
  if ((query.text ?? '') !== '') {
    return tenants.map((tenant) => ({
      from: 'run_text CROSS JOIN run ON run.number = run_text.number',
      ordered: 'run_text',
      sql: 'run_text.tenant = ? AND run.state > 0',
      values: [tenant],
      covers: [],
    }));
  }
  return eachState(query, tenants, (tenant, state) => ({
    from: 'run INDEXED BY run_by_state',
    ordered: 'run',
    sql: 'run.tenant = ? AND run.state = ? AND run.state > 0',
    values: [tenant, state],
    covers: ['status'],
  }));
}

function eachState(
  { status }: RunQuery,
  tenants: readonly string[],
  toPart: (tenant: string, state: number) => IndexPart,
): IndexPart[] {
  const states = status === undefined ? END_STATES : [toState(status)];
  return tenants.flatMap((tenant) => states.map((state) => toPart(tenant, state)));
}

/** Walks through all runs, for more tenants than a union can have parts. */
function scanOf({ text = '' }: RunQuery, tenants: readonly string[]): IndexPart {
  return {
    from: `run NOT INDEXED${text === '' ? '' : ` ${TEXT_TABLE}`}`,
    ordered: 'run',
    sql: `run.state > 0 AND ${OF_TENANTS}`,
    values: [JSON.stringify(tenants)],
    covers: [],
  };
}

const OF_TENANTS = 'run.tenant IN (SELECT value FROM json_each(?))';

/** The runs whose ids begin or end with some characters. */
function idParts(
  { text = '' }: RunQuery,
  part: string,
  tenants: readonly string[],
  covers: readonly FilterName[] = [],
): IndexPart[] {
  const id = part.toLowerCase();
  const join = text === '' ? '' : ` ${TEXT_TABLE}`;
  if (!/^[0-9a-f-]+$/.test(id) || id.length < MIN_TAIL_LENGTH) return [];
  return [
    { ...prefixPart(id, tenants, join), covers },
    {
      from: `run INDEXED BY run_by_tail${join}`,
      ordered: 'run',
      sql: `substr(run.id, -${MIN_TAIL_LENGTH}) = ? AND substr(run.id, ?) = ? AND run.state > 0 AND ${OF_TENANTS}`,
      values: [id.slice(-MIN_TAIL_LENGTH), -id.length, id, JSON.stringify(tenants)],
      covers,
    },
  ];
}

/** As in the index `run_by_tail`. */
const MIN_TAIL_LENGTH = 4;

function isPartOfId(text: string): boolean {
  return text.length >= LISTING_LIMITS.idPartLength && /^[0-9a-f-]+$/.test(text);
}

function prefixPart(prefix: string, tenants: readonly string[], join = ''): IndexPart {
  return {
    from: `(SELECT * FROM run WHERE id >= ? AND id < ? AND removed = 0
      AND tenant IN (SELECT value FROM json_each(?)) ORDER BY id DESC LIMIT ${MAX_IDS}) AS run${join}`,
    ordered: 'run',
    sql: 'run.state > 0',
    // The values of `from` come first. No character of an id comes after "g".
    values: [prefix, `${prefix}g`, JSON.stringify(tenants)],
    covers: [],
  };
}

/** Returns -1 for a status that no settled run has. */
function toState(status: RunStatusFilter): number {
  return STATES.findIndex((each) => each === status);
}

function listTenants(database: Database.Database): readonly string[] {
  return selectAll<{ tenant: string }>(database, 'SELECT tenant FROM usage').map(({ tenant }) => tenant);
}
