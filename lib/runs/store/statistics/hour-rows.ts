import type Database from 'libsql';
import { type Clock, toIsoTime } from '../../../common/clock.js';
import { MAX_PIPELINES_PER_HOUR, OTHER_PIPELINES } from '../../../common/limits.js';
import { addHours } from '../sqlite/thread/retention/usage.js';
import { inTransaction, prepare, selectAll, selectOne } from '../sqlite/thread/statements.js';
import { type CountedRun, type HourCounts, RunCounter } from './run-counter.js';
import {
  endOfPeriod,
  hourOf,
  periodOf,
  type PipelineStatistics,
  startOfHour,
  type StatisticsPlace,
  type StatisticsQuery,
  type StatisticsRows,
} from './statistics-query.js';

/** Statistics have an age of their own: they outlive the runs that they count. */
const KEPT_HOURS = 400 * 24;

/** So many rows are deleted with one commit: others wait for it. */
const ROWS_PER_SLICE = 200;

/** A request looks at pipelines for so long, in milliseconds: others wait for the thread. */
const READ_MS = 50;

interface HourRow extends Omit<HourCounts, 'sketch'> {
  readonly hour: number;
  /** As the driver returns bytes. */
  readonly sketch: ArrayBuffer;
}

/** Adds runs to the counts of their hours, in the transaction that keeps their ends. Each hour is written once. */
export function addToHours(database: Database.Database, runs: readonly CountedRun[]): void {
  const hours = new ChangedHours(database);
  for (const run of runs) hours.find(run, hourOf(run.finishedAt)).addRun(run);
  const keep = prepare(
    database,
    `INSERT INTO stat_hour (tenant, pipeline, hour, succeeded, failed, cancelled, cost, sketch)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (tenant, pipeline, hour) DO UPDATE SET succeeded = excluded.succeeded, failed = excluded.failed,
       cancelled = excluded.cancelled, cost = excluded.cost, sketch = excluded.sketch`,
  );
  for (const { place, counter } of hours.list()) {
    const { succeeded, failed, cancelled, cost, sketch } = counter.toCounts();
    const { tenantId, pipelineId, hour } = place;
    keep.run(tenantId, pipelineId, hour, succeeded, failed, cancelled, cost, sketch);
  }
  for (const [tenantId, count] of hours.added) addHours(database, tenantId, count);
}

interface ChangedHour {
  readonly place: StatisticsPlace;
  readonly counter: RunCounter;
}

/** The hours that a commit changes. */
class ChangedHours {
  /** How many hours are new, by tenant. */
  readonly added = new Map<string, number>();
  readonly #database: Database.Database;
  readonly #hours = new Map<string, ChangedHour>();
  /** How many pipelines have counts of their own, by tenant and hour. */
  readonly #pipelines = new Map<string, number>();

  constructor(database: Database.Database) {
    this.#database = database;
  }

  list(): Iterable<ChangedHour> {
    return this.#hours.values();
  }

  /** The counter of a pipeline, or of all that exceed the limit of the tenant: nobody else pays for what they take. */
  find({ tenantId, pipelineId }: Pick<StatisticsPlace, 'tenantId' | 'pipelineId'>, hour: number): RunCounter {
    const key = JSON.stringify([tenantId, pipelineId, hour]);
    const known = this.#hours.get(key);
    if (known !== undefined) return known.counter;
    const place = { tenantId, pipelineId, hour };
    const counts = readCounts(this.#database, place);
    if (counts === undefined && pipelineId !== OTHER_PIPELINES && !this.#takeRoom(tenantId, hour)) {
      return this.find({ tenantId, pipelineId: OTHER_PIPELINES }, hour);
    }
    const counter = new RunCounter();
    if (counts !== undefined) counter.addHour(counts);
    else this.added.set(tenantId, (this.added.get(tenantId) ?? 0) + 1);
    this.#hours.set(key, { place, counter });
    return counter;
  }

  /** Returns false when as many pipelines of the tenant as may be are counted in this hour. */
  #takeRoom(tenantId: string, hour: number): boolean {
    const key = JSON.stringify([tenantId, hour]);
    const count = this.#pipelines.get(key) ?? countPipelines(this.#database, tenantId, hour);
    const hasRoom = count < MAX_PIPELINES_PER_HOUR;
    this.#pipelines.set(key, hasRoom ? count + 1 : count);
    return hasRoom;
  }
}

/** Counts as far as it matters. */
function countPipelines(database: Database.Database, tenantId: string, hour: number): number {
  const sql = `SELECT count(*) AS pipelines FROM (
    SELECT 1 FROM stat_hour INDEXED BY stat_hour_by_age WHERE hour = ? AND tenant = ? LIMIT ${MAX_PIPELINES_PER_HOUR}
  )`;
  return selectOne<{ pipelines: number }>(database, sql, hour, tenantId)?.pipelines ?? 0;
}

const COLUMNS = ['hour', 'succeeded', 'failed', 'cancelled', 'cost'] as const;

function readCounts(
  database: Database.Database,
  { tenantId, pipelineId, hour }: StatisticsPlace,
): HourCounts | undefined {
  const sql = `SELECT ${COLUMNS.join(', ')}, sketch FROM stat_hour WHERE tenant = ? AND pipeline = ? AND hour = ?`;
  const row = selectOne<HourRow>(database, sql, tenantId, pipelineId, hour);
  return row && toCounts(row);
}

/** Spreading the row would take several times as long. */
function toCounts({ succeeded, failed, cancelled, cost, sketch }: HourRow): HourCounts {
  return { succeeded, failed, cancelled, cost, sketch: new Uint8Array(sketch) };
}

/** Reads rows until there are enough, or the time is over. */
export function readHours(database: Database.Database, query: StatisticsQuery, clock: Clock): StatisticsRows {
  const { limit } = query;
  const end = clock.monotonicNow() + READ_MS;
  const rows: PipelineStatistics[] = [];
  const times = new HourTimes();
  let last = query.after;
  for (const place of listPipelines(database, query)) {
    for (const { at, counter } of readPeriods(database, place, query)) {
      if (rows.length === limit) return { rows, next: last };
      last = { tenantId: place.tenantId, pipelineId: place.pipelineId, hour: at };
      rows.push(counter.toRow(last, times.of(at)));
    }
    last = { ...place, hour: Number.POSITIVE_INFINITY };
    if (clock.monotonicNow() > end) return { rows, next: last };
  }
  return { rows };
}

/** Writes each hour once: the pipelines have the same ones. */
class HourTimes {
  readonly #texts = new Map<number, string>();

  of(hour: number): string {
    let text = this.#texts.get(hour);
    if (text === undefined) this.#texts.set(hour, (text = toIsoTime(startOfHour(hour))));
    return text;
  }
}

/** A pipeline of a tenant, and the first of its hours to read. */
function* listPipelines(database: Database.Database, query: StatisticsQuery): Iterable<StatisticsPlace> {
  const { pipeline_id: chosen, after, fromHour } = query;
  for (const tenantId of listTenants(database, query)) {
    const isFirst = tenantId === after?.tenantId;
    const place = { tenantId, hour: fromHour };
    const before = isFirst ? after.pipelineId : '';
    const next = isFirst ? Math.max(fromHour, endOfPeriod(after.hour, query)) : Number.POSITIVE_INFINITY;
    // The cursor may be that of another query.
    if (next < query.toHour && (chosen ?? before) === before)
      yield { tenantId, pipelineId: before, hour: next };
    if (chosen !== undefined) {
      if (chosen > before) yield { ...place, pipelineId: chosen };
      continue;
    }
    // One look for each pipeline: to group the rows would read all hours of all of them.
    const sql =
      'SELECT pipeline AS name FROM stat_hour WHERE tenant = ? AND pipeline > ? ORDER BY pipeline LIMIT 1';
    for (let name = readName(database, sql, tenantId, before); name !== undefined; ) {
      yield { ...place, pipelineId: name };
      name = readName(database, sql, tenantId, name);
    }
  }
}

/** In their order, from the one at which the rows go on. */
function* listTenants(database: Database.Database, { tenants, after }: StatisticsQuery): Iterable<string> {
  const first = after?.tenantId ?? '';
  if (tenants !== undefined) {
    yield* [...new Set(tenants)].filter((tenantId) => tenantId >= first).sort();
    return;
  }
  if (first !== '') yield first;
  const sql = 'SELECT tenant AS name FROM stat_hour WHERE tenant > ? ORDER BY tenant LIMIT 1';
  for (let name = readName(database, sql, first); name !== undefined; name = readName(database, sql, name)) {
    yield name;
  }
}

function readName(
  database: Database.Database,
  sql: string,
  ...values: readonly string[]
): string | undefined {
  return selectOne<{ name: string }>(database, sql, ...values)?.name;
}

/** The hours of a pipeline in one row: the driver takes 1.6 µs for each row that it returns, SQLite 0.2. */
interface PackedHours extends Readonly<Record<(typeof COLUMNS)[number] | 'lengths', string>> {
  /** Of all hours; null when there are none. */
  readonly sketches: ArrayBuffer | null;
}

// Bytes that SQLite joins as if they were text stay what they are. Hexadecimal digits would take half as long again.
const PACKED = `${COLUMNS.map((name) => `json_group_array(${name}) AS ${name}`).join(', ')},
  json_group_array(length(sketch)) AS lengths, CAST(group_concat(sketch, '') AS BLOB) AS sketches`;

/** The runs of a pipeline by period. A period counts until the next one is asked for. */
function* readPeriods(
  database: Database.Database,
  { tenantId, pipelineId, hour: fromHour }: StatisticsPlace,
  query: StatisticsQuery,
): Iterable<{ readonly at: number; readonly counter: RunCounter }> {
  // Each index has the rows in the order of the hours. To order or to limit them here would take a third longer.
  const packed = selectOne<PackedHours>(
    database,
    `SELECT ${PACKED} FROM stat_hour WHERE tenant = ? AND pipeline = ? AND hour >= ? AND hour < ?`,
    tenantId,
    pipelineId,
    fromHour,
    query.toHour,
  );
  const read = (column: Exclude<keyof PackedHours, 'sketches'>): readonly (number | null)[] =>
    JSON.parse(packed?.[column] ?? '[]') as (number | null)[];
  const [succeeded, failed, cancelled] = [read('succeeded'), read('failed'), read('cancelled')];
  const [costs, lengths] = [read('cost'), read('lengths')];
  const sketch = new Uint8Array(packed?.sketches ?? []);
  const counter = new RunCounter();
  let at: number | undefined;
  let end = 0;
  for (const [index, hour] of (read('hour') as number[]).entries()) {
    const period = periodOf(hour, query);
    if (period !== at) {
      if (at !== undefined) yield { at, counter };
      counter.clear();
      at = period;
    }
    const start = end;
    end += lengths[index] ?? 0;
    counter.addHour(
      {
        succeeded: succeeded[index] ?? 0,
        failed: failed[index] ?? 0,
        cancelled: cancelled[index] ?? 0,
        cost: costs[index] ?? null,
        sketch,
      },
      start,
      end,
    );
  }
  if (at !== undefined) yield { at, counter };
}

/** Deletes a slice of the rows that are too old. @param now milliseconds since 1970, UTC */
export function pruneHours(database: Database.Database, now: number): void {
  const oldest =
    'SELECT tenant, pipeline, hour FROM stat_hour INDEXED BY stat_hour_by_age WHERE hour < ? ORDER BY hour';
  deleteHours(database, `${oldest} LIMIT ${ROWS_PER_SLICE}`, hourOf(now) - KEPT_HOURS);
}

/** Deletes a slice of the rows of a tenant, the oldest first. */
export function pruneHoursOf(database: Database.Database, tenantId: string): void {
  const oldest =
    'SELECT tenant, pipeline, hour FROM stat_hour INDEXED BY stat_hour_by_age WHERE tenant = ? ORDER BY hour';
  deleteHours(database, `${oldest} LIMIT ${10 * ROWS_PER_SLICE}`, tenantId);
}

function deleteHours(database: Database.Database, rows: string, value: string | number): void {
  inTransaction(database, () => {
    const deleted = selectAll<{ tenant: string }>(
      database,
      `DELETE FROM stat_hour WHERE (tenant, pipeline, hour) IN (${rows}) RETURNING tenant`,
      value,
    );
    const counts = new Map<string, number>();
    for (const { tenant } of deleted) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
    for (const [tenantId, count] of counts) addHours(database, tenantId, -count);
  });
}
