import type { RunStatus } from '../../../../machines/types.js';
import { toIsoTime } from '../../../common/clock.js';
import type { Steps } from '../../../common/scheduling/steps.js';
import type { RunSummary } from '../../../common/wire/run-summary.js';
import { DurationSketch } from './duration-sketch.js';
import {
  comparePlaces,
  hourOf,
  periodOf,
  type PipelineStatistics,
  startOfHour,
  type StatisticsPlace,
  type StatisticsQuery,
  type StatisticsRows,
} from './statistics-query.js';

/** The facts of a settled run that statistics count. */
export interface CountedRun {
  readonly tenantId: string;
  readonly pipelineId: string;
  readonly status: RunStatus;
  readonly finishedAt: number;
  /** Null for a run that has never started. */
  readonly durationMs: number | null;
  readonly cost: number | undefined;
}

/** The times and the names of a run as it is in memory. */
interface RunInMemory {
  readonly tenantId: string;
  readonly definitionId: string;
  readonly status: RunStatus;
  readonly isSettled: boolean;
  readonly begunAt: number | null;
  readonly finishedAt: number | null;
  readonly journal: { readonly cost: number | undefined };
}

export function toCountedRun(summary: RunSummary, cost: number | undefined): CountedRun {
  const { tenant_id: tenantId, pipeline_id: pipelineId, status, started_at: startedAt } = summary;
  const finishedAt = Date.parse(summary.finished_at ?? summary.created_at);
  const durationMs = startedAt === null ? null : finishedAt - Date.parse(startedAt);
  return { tenantId, pipelineId, status, finishedAt, durationMs, cost };
}

/** The counts of one row of hours or of a period, as they are kept. */
export interface HourCounts {
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Null when no run has one. */
  readonly cost: number | null;
  /** Of the durations. */
  readonly sketch: Uint8Array;
}

/** Counts runs one by one, or the runs of hours that are kept. */
export class RunCounter {
  #succeeded = 0;
  #failed = 0;
  #cancelled = 0;
  #cost: number | null = null;
  readonly #durations = new DurationSketch();

  addRun({ status, durationMs, cost }: CountedRun): void {
    if (status === 'succeeded') this.#succeeded++;
    else if (status === 'failed') this.#failed++;
    else this.#cancelled++;
    // The clock of the machine may have been set back meanwhile.
    if (durationMs !== null) this.#durations.add(Math.max(0, durationMs));
    if (cost !== undefined) this.#cost = (this.#cost ?? 0) + cost;
  }

  /** @param start of the bytes of the sketch, which go on to `end`. Default: all of it. */
  addHour({ succeeded, failed, cancelled, cost, sketch }: HourCounts, start?: number, end?: number): void {
    this.#succeeded += succeeded;
    this.#failed += failed;
    this.#cancelled += cancelled;
    if (cost !== null) this.#cost = (this.#cost ?? 0) + cost;
    this.#durations.merge(sketch, start, end);
  }

  /** Counts from nothing again. */
  clear(): void {
    this.#succeeded = 0;
    this.#failed = 0;
    this.#cancelled = 0;
    this.#cost = null;
    this.#durations.clear();
  }

  toCounts(): HourCounts {
    const [succeeded, failed, cancelled, cost] = [this.#succeeded, this.#failed, this.#cancelled, this.#cost];
    return { succeeded, failed, cancelled, cost, sketch: this.#durations.encode() };
  }

  /** @param at the beginning of the period */
  toRow({ tenantId, pipelineId }: StatisticsPlace, at: string): PipelineStatistics {
    return {
      pipeline_id: pipelineId,
      tenant_id: tenantId,
      at,
      succeeded: this.#succeeded,
      failed: this.#failed,
      cancelled: this.#cancelled,
      p50_ms: this.#durations.quantile(0.5),
      p95_ms: this.#durations.quantile(0.95),
      ...(this.#cost !== null && { cost: this.#cost }),
    };
  }
}

/** So many runs are looked at in one step. */
const RUNS_PER_STEP = 500;

/** Counts the settled runs in memory, in steps: there may be a million. */
export function* countRunsInMemory(
  entries: Iterable<{ readonly run: RunInMemory }>,
  query: StatisticsQuery,
): Steps<StatisticsRows> {
  const { fromHour, toHour, pipeline_id, after, limit } = query;
  const tenants = query.tenants && new Set(query.tenants);
  const counters = new Map<string, { readonly place: StatisticsPlace; readonly counter: RunCounter }>();
  let looked = 0;
  for (const { run } of entries) {
    if (++looked % RUNS_PER_STEP === 0) yield;
    const { tenantId, definitionId: pipelineId, status, begunAt, finishedAt } = run;
    if (!run.isSettled || finishedAt === null) continue;
    if (tenants?.has(tenantId) === false || (pipeline_id !== undefined && pipelineId !== pipeline_id))
      continue;
    const finishedHour = hourOf(finishedAt);
    if (finishedHour < fromHour || finishedHour >= toHour) continue;
    const place = { tenantId, pipelineId, hour: periodOf(finishedHour, query) };
    if (after !== undefined && comparePlaces(place, after) <= 0) continue;
    const key = JSON.stringify(place);
    let counted = counters.get(key);
    if (counted === undefined) counters.set(key, (counted = { place, counter: new RunCounter() }));
    const durationMs = begunAt === null ? null : finishedAt - begunAt;
    counted.counter.addRun({ tenantId, pipelineId, status, finishedAt, durationMs, cost: run.journal.cost });
  }
  const sorted = [...counters.values()].sort((a, b) => comparePlaces(a.place, b.place));
  const shown = sorted.slice(0, limit);
  return {
    rows: shown.map(({ place, counter }) => counter.toRow(place, toIsoTime(startOfHour(place.hour)))),
    next: sorted.length > limit ? shown.at(-1)?.place : undefined,
  };
}
