import { type Clock, toIsoTime } from '../../../common/clock.js';
import { WavetrainError } from '../../../common/errors.js';
import { runInSlices } from '../../../common/scheduling/run-in-slices.js';
import type { StatisticsPageSchema } from '../../../common/wire/statistics.js';
import type { Shape } from '../../../common/wire/shape.js';
import type { RunArchive } from '../run-archive.js';
import { countRunsInMemory } from './run-counter.js';
import {
  firstOfDay,
  hourOf,
  startOfHour,
  type StatisticsPeriod,
  type StatisticsPlace,
  type StatisticsQuery,
  type StatisticsRows,
} from './statistics-query.js';

/** As a server sends them. */
export interface StatisticsPage extends Shape<typeof StatisticsPageSchema> {}

/** Statistics as a user asks for them. */
export interface StatisticsRequest extends Pick<StatisticsQuery, 'tenants' | 'pipeline_id' | 'by' | 'limit'> {
  /** The beginning and the end of the time that is counted, in milliseconds since 1970. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
}

/** The runs that statistics are made of. */
interface StatisticsSources {
  /** Undefined when settled runs are in memory alone. */
  readonly archive: Pick<RunArchive, 'statistics'> | undefined;
  readonly runs: { newestFirst(): Parameters<typeof countRunsInMemory>[0] };
  readonly clock: Clock;
}

/** Rejects with `invalid_request` for a malformed cursor, and when the end is not after the beginning. */
export async function readStatistics(
  request: StatisticsRequest,
  tenantId: string,
  { archive, runs, clock }: StatisticsSources,
): Promise<StatisticsPage> {
  const query = toQuery(request, clock.now());
  const rows = archive
    ? await archive.statistics(query, tenantId)
    : await runInSlices(countRunsInMemory(runs.newestFirst(), query), tenantId);
  return toPage(query, rows);
}

/** The hours that are counted when a request does not say where they begin. */
const DEFAULT_HOURS: Readonly<Record<StatisticsPeriod, number>> = { hour: 24, day: 7 * 24, total: 7 * 24 };

/**
 * Rounds the time that is asked for to whole periods.
 *
 * @param now milliseconds since 1970, UTC
 * @throws WavetrainError `invalid_request` for a malformed cursor, and when the end is not after the beginning
 */
function toQuery(request: StatisticsRequest, now: number): StatisticsQuery {
  const { fromMs, toMs = now, cursor, by, ...filters } = request;
  if (fromMs !== undefined && fromMs >= toMs) {
    const times = `from is ${toIsoTime(fromMs)}, to is ${toIsoTime(toMs)}`;
    throw new WavetrainError('invalid_request', `the time to count ends before it begins: ${times}`);
  }
  const last = hourOf(toMs - 1);
  const toHour = by === 'day' ? firstOfDay(last) + 24 : last + 1;
  const after = cursor === undefined ? undefined : decodePlace(cursor);
  return { ...filters, by, fromHour: firstHour(fromMs, toHour, by), toHour, after };
}

function firstHour(fromMs: number | undefined, toHour: number, by: StatisticsPeriod): number {
  if (fromMs === undefined) return toHour - DEFAULT_HOURS[by];
  const hour = hourOf(fromMs);
  return by === 'day' ? firstOfDay(hour) : hour;
}

function toPage({ by, fromHour, toHour }: StatisticsQuery, { rows, next }: StatisticsRows): StatisticsPage {
  return {
    from: toIsoTime(startOfHour(fromHour)),
    to: toIsoTime(startOfHour(toHour)),
    by,
    rows,
    next_cursor: next === undefined ? null : encodePlace(next),
  };
}

function encodePlace({ tenantId, pipelineId, hour }: StatisticsPlace): string {
  // JSON has no infinity: nothing is left of the pipeline.
  const last = Math.min(hour, LAST_HOUR);
  return Buffer.from(JSON.stringify([tenantId, pipelineId, last])).toString('base64url');
}

/** An hour after all others, in nine digits. */
const LAST_HOUR = 999_999_999;

/** The ids of tenants and pipelines have neither quotes nor backslashes. */
const CURSOR = /^\["([^"\\]*)","([^"\\]*)",(-?\d{1,9})\]$/;

function decodePlace(cursor: string): StatisticsPlace {
  const [, tenantId, pipelineId, hour] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (tenantId !== undefined && pipelineId !== undefined) return { tenantId, pipelineId, hour: Number(hour) };
  throw new WavetrainError('invalid_request', 'cursor must be the next_cursor of an earlier page');
}
