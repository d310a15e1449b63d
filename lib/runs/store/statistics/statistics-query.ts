import type { PipelineStatisticsSchema, StatisticsPeriodSchema } from '../../../common/wire/statistics.js';
import type { Shape } from '../../../common/wire/shape.js';

const HOUR_MS = 3_600_000;

/** Statistics are counted by hour, and longer periods are merged from hours. */
export function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS);
}

export function startOfHour(hour: number): number {
  return hour * HOUR_MS;
}

export type StatisticsPeriod = Shape<typeof StatisticsPeriodSchema>;

export interface PipelineStatistics extends Shape<typeof PipelineStatisticsSchema> {}

/** Hours are counted from 1970, UTC. */
export interface StatisticsQuery {
  /** Only runs of these tenants; undefined includes every tenant. */
  readonly tenants?: readonly string[] | undefined;
  readonly pipeline_id?: string | undefined;
  readonly by: StatisticsPeriod;
  /** The first hour; of days, the first of its day. */
  readonly fromHour: number;
  /** The hour after the last one. */
  readonly toHour: number;
  /** Largest number of rows. */
  readonly limit: number;
  /** Only rows after this one. */
  readonly after?: StatisticsPlace | undefined;
}

/** A place in the order of rows. */
export interface StatisticsPlace {
  readonly tenantId: string;
  readonly pipelineId: string;
  /** The first hour of the period; infinite after the last one of the pipeline. */
  readonly hour: number;
}

export interface StatisticsRows {
  readonly rows: readonly PipelineStatistics[];
  /** The rows go on after this place; undefined when these are the last. */
  readonly next?: StatisticsPlace | undefined;
}

/** The first hour of the day, of UTC, that has an hour. */
export function firstOfDay(hour: number): number {
  return Math.floor(hour / 24) * 24;
}

/** The first hour of the period that has an hour. */
export function periodOf(hour: number, { by, fromHour }: StatisticsQuery): number {
  if (by === 'total') return fromHour;
  return by === 'day' ? firstOfDay(hour) : hour;
}

/** The first hour after a period. */
export function endOfPeriod(hour: number, { by }: Pick<StatisticsQuery, 'by'>): number {
  if (by === 'total') return Number.POSITIVE_INFINITY;
  return by === 'day' ? hour + 24 : hour + 1;
}

export function comparePlaces(a: StatisticsPlace, b: StatisticsPlace): number {
  return compareTexts(a.tenantId, b.tenantId) || compareTexts(a.pipelineId, b.pipelineId) || a.hour - b.hour;
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
