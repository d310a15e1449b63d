import type Database from 'libsql';
import { LISTING_LIMITS } from '../../../../common/limits.js';
import type { RunQuery, RunStatusFilter } from '../../../views/run-query.js';
import { END_STATES, STATES } from './run-columns.js';
import { selectAll, selectOne } from './statements.js';

/** With more subqueries, the planner takes longer than a walk through the runs. */
const MAX_SOURCES = 20;

/** So many of the runs whose ids begin with some characters are looked at, the newest, and of those that end with them. */
const MAX_IDS = 1000;

/** The tables that have runs in the order of their numbers; `known` are runs that were looked up before. */
type OrderedTable = 'run' | 'run_text' | 'label' | 'known';

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
  /** The rows that the index finds, before any other filter: each is looked at. */
  readonly walk: Condition;
  /** True when the rows that the index finds have the texts that are looked into. */
  readonly hasText: boolean;
}

export interface SourcePlan {
  readonly sources: readonly ListSource[];
  /** True when runs of the sources may not match, so that many are to be looked at. */
  readonly isSearch: boolean;
  /** True when two sources may find the same run. */
  readonly overlaps: boolean;
  /** How much longer it takes to look at a run than at its place in an index. */
  readonly cost: number;
}

/**
 * Chooses the indexes that find the runs of a query. SQLite would rather take an index that gives the order than one that
 * finds the runs, and walk through all of a tenant: each source names its index.
 */
export function planSources(database: Database.Database, query: RunQuery): SourcePlan {
  const tenants = query.tenants ?? listTenants(database);
  const filters = toFilters(query);
  const parts =
    query.id === undefined ? listParts(database, query, tenants) : idParts(database, query, query.id, ['id']);
  const isTooMany = parts.length > MAX_SOURCES;
  const chosen = isTooMany ? [scanOf(tenants)] : parts;
  const sources = chosen.map((part) => toSource(part, filters));
  const text = (query.text ?? '').toLowerCase();
  const byId = isPartOfId(text) ? idParts(database, query, text) : [];
  const others = toFilters({ ...query, text: undefined });
  for (const part of byId) sources.push(toSource(part, others));
  const isIndexed = filters.every(({ name }) => chosen.every((part) => part.covers.includes(name)));
  const joinsText =
    filters.some(({ name }) => name === 'text') && chosen.some(({ ordered }) => ordered !== 'run_text');
  return {
    sources,
    isSearch: isTooMany || !isIndexed,
    overlaps: byId.length > 0,
    cost: filters.reduce((sum, { cost }) => sum + cost, joinsText ? 1 + JOINED_TEXT_COST : 1),
  };
}

/** Returns true when a query selects all runs of its tenants. */
export function selectsWholeTenants(query: RunQuery): boolean {
  return (
    toFilters(query).length === 0 && query.createdAfterMs === undefined && query.createdBeforeMs === undefined
  );
}

/** An index, and the filters that it applies by itself. */
interface IndexPart extends Condition {
  readonly index: string;
  readonly ordered: OrderedTable;
  readonly covers: readonly FilterName[];
  /** A condition that the index does not apply. */
  readonly also?: Condition;
}

type FilterName = 'id' | 'status' | 'pipeline' | 'starter' | 'trigger' | 'text' | `label ${string}`;

interface NamedFilter extends Condition {
  readonly name: FilterName;
  /** Of applying it to a row, besides that of a place in an index, which is 1. */
  readonly cost: number;
}

function toSource(part: IndexPart, filters: readonly NamedFilter[]): ListSource {
  const { index, ordered, also, covers } = part;
  const hasText = filters.some(({ name }) => name === 'text');
  const joinRun = ordered === 'run' ? '' : ` CROSS JOIN run ON run.number = ${ordered}.number`;
  const joinText = hasText && ordered !== 'run_text' ? ` ${TEXT_TABLE}` : '';
  const conditions = [part, ...(also ? [also] : []), ...filters.filter(({ name }) => !covers.includes(name))];
  return {
    from: `${index}${joinRun}${joinText}`,
    ordered,
    where: conditions.map(({ sql }) => sql).join(' AND '),
    values: conditions.flatMap(({ values }) => values),
    walk: { sql: `${index} WHERE ${part.sql}`, values: part.values },
    hasText: hasText && ordered === 'run_text',
  };
}

const TEXT_TABLE = 'CROSS JOIN run_text ON run_text.tenant = run.tenant AND run_text.number = run.number';

/** SQLite reads some long texts to find one by its key. */
const JOINED_TEXT_COST = 9;

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
  const add = (name: FilterName, cost: number, sql: string, ...values: unknown[]): void =>
    void filters.push({ name, cost, sql, values });
  const part = id?.toLowerCase() ?? '';
  // Applied by the index, as each part of a list with it is.
  if (id !== undefined)
    add(
      'id',
      0,
      '(substr(run.id, 1, ?) = ? OR substr(run.id, ?) = ?)',
      part.length,
      part,
      -part.length,
      part,
    );
  if (status !== undefined) add('status', 0, 'run.state = ?', toState(status));
  if (pipelineId !== undefined) add('pipeline', 0, 'run.pipeline = ?', pipelineId);
  if (startedBy?.name !== undefined) {
    add('starter', BEHIND_TEXTS, 'run.starter = ? AND run.starter_name = ?', startedBy.kind, startedBy.name);
  } else if (startedBy !== undefined) add('starter', BEHIND_TEXTS, 'run.starter = ?', startedBy.kind);
  for (const label of new Set(labels)) add(`label ${label}`, 1 / 4, HAS_LABEL, label);
  if (trigger !== undefined) add('trigger', BEHIND_TEXTS, 'run.trigger = ?', trigger);
  const wanted = text.slice(0, LISTING_LIMITS.textLength).toLowerCase();
  if (wanted !== '') add('text', 0, 'instr(run_text.text, ?) > 0', wanted);
  return filters;
}

/** The goal and the error stand before some columns of a row, on pages of their own when they are long. */
const BEHIND_TEXTS = 2;

/** Reads that a run has a label from the index of labels. */
const HAS_LABEL = `EXISTS (SELECT 1 FROM label AS other
  WHERE other.tenant = run.tenant AND other.label = ? AND other.state = run.state AND other.number = run.number)`;

/** To find the index with the fewest runs, no more places in each part of it are counted, and of few labels. */
const MAX_COUNTED = 200;
const MAX_COUNTED_LABELS = 3;

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

/** Counts the places in an index, as far as `MAX_COUNTED`. */
function countParts(database: Database.Database, parts: readonly IndexPart[]): number {
  let runs = 0;
  for (const { index, sql, values } of parts.slice(0, MAX_SOURCES)) {
    const counted = `SELECT count(*) AS runs FROM (SELECT 1 FROM ${index} WHERE ${sql} LIMIT ${MAX_COUNTED})`;
    runs += selectOne<{ runs: number }>(database, counted, ...values)?.runs ?? 0;
  }
  return runs;
}

/** The indexes that find the runs of a query, each with its parts. */
function listIndexed(query: RunQuery, tenants: readonly string[]): IndexPart[][] {
  const { pipeline_id: pipelineId, startedBy, labels = [] } = query;
  const indexed: IndexPart[][] = [];
  if (pipelineId !== undefined) {
    const parts = eachState(query, tenants, (tenant, state) => ({
      index: 'run INDEXED BY run_by_pipeline',
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
      index: 'run INDEXED BY run_by_starter',
      ordered: 'run',
      sql: 'run.tenant = ? AND run.starter = ? AND run.starter_name = ? AND run.state > 0',
      values: [tenant, kind, name],
      covers: ['starter'],
    }));
    indexed.push(parts);
  }
  for (const label of [...new Set(labels)].slice(0, MAX_COUNTED_LABELS)) {
    const parts = eachState(query, tenants, (tenant, state) => ({
      index: 'label',
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
      index: 'run_text',
      ordered: 'run_text',
      sql: 'run_text.tenant = ?',
      values: [tenant],
      covers: [],
      also: HAS_SETTLED,
    }));
  }
  return eachState(query, tenants, (tenant, state) => ({
    index: 'run INDEXED BY run_by_state',
    ordered: 'run',
    sql: 'run.tenant = ? AND run.state = ? AND run.state > 0',
    values: [tenant, state],
    covers: ['status'],
  }));
}

const HAS_SETTLED: Condition = { sql: 'run.state > 0', values: [] };

function eachState(
  { status }: RunQuery,
  tenants: readonly string[],
  toPart: (tenant: string, state: number) => IndexPart,
): IndexPart[] {
  const states = status === undefined ? END_STATES : [toState(status)];
  return tenants.flatMap((tenant) => states.map((state) => toPart(tenant, state)));
}

/** Walks through all runs, for more tenants than a union can have parts. */
function scanOf(tenants: readonly string[]): IndexPart {
  return {
    index: 'run NOT INDEXED',
    ordered: 'run',
    sql: 'TRUE',
    values: [],
    covers: [],
    also: { sql: `run.state > 0 AND ${OF_TENANTS}`, values: [JSON.stringify(tenants)] },
  };
}

const OF_TENANTS = 'run.tenant IN (SELECT value FROM json_each(?))';

/** The runs whose ids begin or end with some characters, looked up once for all slices of a search. */
function idParts(
  database: Database.Database,
  { tenants }: RunQuery,
  part: string,
  covers: readonly FilterName[] = [],
): IndexPart[] {
  const id = part.toLowerCase();
  if (!/^[0-9a-f-]+$/.test(id) || id.length < MIN_TAIL_LENGTH) return [];
  const numbers = new Set([...findByPrefix(database, id, tenants), ...findByTail(database, id, tenants)]);
  if (numbers.size === 0) return [];
  return [
    {
      index: '(SELECT value AS number FROM json_each(?)) AS known',
      ordered: 'known',
      sql: 'TRUE',
      values: [JSON.stringify([...numbers])],
      covers,
      also: HAS_SETTLED,
    },
  ];
}

/** As in the index `run_by_tail`. */
const MIN_TAIL_LENGTH = 4;

function isPartOfId(text: string): boolean {
  return text.length >= LISTING_LIMITS.idPartLength && /^[0-9a-f-]+$/.test(text);
}

/** A run by its id. */
interface FoundId {
  readonly number: number;
  readonly id: string;
}

/** The numbers of the runs with the largest ids, which are the newest. @param tenants undefined for all */
function findByPrefix(
  database: Database.Database,
  prefix: string,
  tenants: readonly string[] | undefined,
): readonly number[] {
  // No character of an id comes after "g".
  const end = `${prefix}g`;
  const rest = `id >= ? AND id < ? AND state > 0 ORDER BY id DESC LIMIT ${MAX_IDS}`;
  if (tenants === undefined) {
    return selectAll<FoundId>(database, `SELECT number, id FROM run WHERE ${rest}`, prefix, end).map(
      toNumber,
    );
  }
  let found: FoundId[] = [];
  const sql = `SELECT number, id FROM run INDEXED BY run_by_id WHERE tenant = ? AND ${rest}`;
  for (const tenant of new Set(tenants)) {
    const least = found.length < MAX_IDS ? prefix : (found.at(-1)?.id ?? prefix);
    const added = selectAll<FoundId>(database, sql, tenant, least, end);
    if (added.length === 0) continue;
    found = [...found, ...added].sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, MAX_IDS);
  }
  return found.map(toNumber);
}

/** Ids end with random characters: few runs of others have the same ones. */
function findByTail(
  database: Database.Database,
  tail: string,
  tenants: readonly string[] | undefined,
): readonly number[] {
  const sql = `SELECT number FROM run INDEXED BY run_by_tail
    WHERE substr(id, -${MIN_TAIL_LENGTH}) = ? AND substr(id, ?) = ? AND state > 0${tenants ? ` AND ${OF_TENANTS}` : ''}
    ORDER BY number DESC LIMIT ${MAX_IDS}`;
  const values = [tail.slice(-MIN_TAIL_LENGTH), -tail.length, tail];
  return selectAll<FoundId>(database, sql, ...values, ...(tenants ? [JSON.stringify(tenants)] : [])).map(
    toNumber,
  );
}

function toNumber({ number }: FoundId): number {
  return number;
}

/** Returns -1 for a status that no settled run has. */
function toState(status: RunStatusFilter): number {
  return STATES.findIndex((each) => each === status);
}

function listTenants(database: Database.Database): readonly string[] {
  return selectAll<{ tenant: string }>(database, 'SELECT tenant FROM usage').map(({ tenant }) => tenant);
}
