import type Database from 'libsql';
import type { Clock } from '../../../common/clock.js';
import { prepare, selectAll, selectOne } from '../sqlite/thread/statements.js';
import { type CountedRun, type HourCounts, RunCounter } from './run-counter.js';
import {
  endOfPeriod,
  hourOf,
  periodOf,
  type PipelineStatistics,
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
  const counters = new Map<string, { readonly place: StatisticsPlace; readonly counter: RunCounter }>();
  for (const run of runs) {
    const { tenantId, pipelineId, finishedAt } = run;
    const place = { tenantId, pipelineId, hour: hourOf(finishedAt) };
    const key = JSON.stringify(place);
    let counted = counters.get(key);
    if (counted === undefined)
      counters.set(key, (counted = { place, counter: readCounter(database, place) }));
    counted.counter.addRun(run);
  }
  const keep = prepare(
    database,
    `INSERT INTO stat_hour (tenant, pipeline, hour, succeeded, failed, cancelled, cost, sketch)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (tenant, pipeline, hour) DO UPDATE SET succeeded = excluded.succeeded, failed = excluded.failed,
       cancelled = excluded.cancelled, cost = excluded.cost, sketch = excluded.sketch`,
  );
  for (const { place, counter } of counters.values()) {
    const { succeeded, failed, cancelled, cost, sketch } = counter.toCounts();
    const { tenantId, pipelineId, hour } = place;
    keep.run(tenantId, pipelineId, hour, succeeded, failed, cancelled, cost, sketch);
  }
}

const COUNTS = 'hour, succeeded, failed, cancelled, cost, sketch';

function readCounter(
  database: Database.Database,
  { tenantId, pipelineId, hour }: StatisticsPlace,
): RunCounter {
  const counter = new RunCounter();
  const sql = `SELECT ${COUNTS} FROM stat_hour WHERE tenant = ? AND pipeline = ? AND hour = ?`;
  const row = selectOne<HourRow>(database, sql, tenantId, pipelineId, hour);
  if (row !== undefined) counter.addHour(toCounts(row));
  return counter;
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
  let last = query.after;
  for (const place of listPipelines(database, query)) {
    for (const { at, counter } of readPeriods(database, place, query, limit - rows.length + 1)) {
      if (rows.length === limit) return { rows, next: last };
      last = { ...place, hour: at };
      rows.push(counter.toRow(last));
    }
    last = { ...place, hour: Number.POSITIVE_INFINITY };
    if (clock.monotonicNow() > end) return { rows, next: last };
  }
  return { rows };
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

/** The runs of a pipeline by period, the first periods at least. */
function* readPeriods(
  database: Database.Database,
  { tenantId, pipelineId, hour }: StatisticsPlace,
  query: StatisticsQuery,
  most: number,
): Iterable<{ readonly at: number; readonly counter: RunCounter }> {
  const hours = query.by === 'total' ? -1 : most * (query.by === 'day' ? 24 : 1);
  const rows = selectAll<HourRow>(
    database,
    `SELECT ${COUNTS} FROM stat_hour WHERE tenant = ? AND pipeline = ? AND hour >= ? AND hour < ? ORDER BY hour LIMIT ?`,
    tenantId,
    pipelineId,
    hour,
    query.toHour,
    hours,
  );
  let period: { readonly at: number; readonly counter: RunCounter } | undefined;
  for (const row of rows) {
    const at = periodOf(row.hour, query);
    if (period?.at !== at) {
      if (period !== undefined) yield period;
      period = { at, counter: new RunCounter() };
    }
    period.counter.addHour(toCounts(row));
  }
  if (period !== undefined) yield period;
}

/** Deletes a slice of the rows that are too old. @param now milliseconds since 1970, UTC */
export function pruneHours(database: Database.Database, now: number): void {
  prepare(
    database,
    `DELETE FROM stat_hour WHERE (tenant, pipeline, hour) IN (
       SELECT tenant, pipeline, hour FROM stat_hour INDEXED BY stat_hour_by_age WHERE hour < ? ORDER BY hour LIMIT ${ROWS_PER_SLICE}
     )`,
  ).run(hourOf(now) - KEPT_HOURS);
}
