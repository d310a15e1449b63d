import type { RunStatus } from '../../machines/types.js';
import type { Clock } from '../common/clock.js';
import type { RunIdentity, SettledRun } from '../runs/run-entry.js';
import { BusiestIds } from './busiest-ids.js';
import { DurationSeries } from './duration-histogram.js';
import type { LongMetric, Sample } from './long-metric.js';
import { RUN_STATUSES } from './run-metrics.js';

/** The label of the runs of all pipelines that have no label of their own. */
const OTHER = 'other';

/** The label of runs that neither a schedule nor a webhook has started. */
const NO_TRIGGER = 'none';

/** The labels change so often at most: Prometheus keeps every time series that it has ever seen. */
const RANKING_MS = 3_600_000;

/** Upper bounds in seconds: from a short computation to a run of a day. */
const RUN_BUCKETS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14_400, 86_400];

type Trigger = NonNullable<RunIdentity['trigger']>;

/** A schedule of the folder. */
export interface MeasuredSchedule {
  readonly label: string;
  /** Milliseconds since the first time that was due and has started no run; 0 when there is none. */
  readonly lateMs: number;
  /** The end of its last run that has succeeded, in milliseconds since 1970, UTC; null before the first one. */
  readonly succeededAt: number | null;
}

/** The definitions in the folder of the server. Their labels are always there, whatever else callers run. */
export interface MeasuredFolder {
  /** The label of a definition; undefined when the folder does not have it. */
  readonly labelOf: (tenantId: string, id: string) => string | undefined;
  /** Returns true for a text that is the label of a definition. */
  readonly isLabel: (text: string) => boolean;
  readonly list: () => Iterable<{ readonly label: string; readonly triggers: readonly Trigger[] }>;
  readonly schedules: () => Iterable<MeasuredSchedule>;
}

const NO_FOLDER: MeasuredFolder = {
  labelOf: () => undefined,
  isLabel: () => false,
  list: () => [],
  schedules: () => [],
};

/** The runs with one label. */
class PipelineSeries {
  readonly label: string;
  /** By trigger, the number of runs that have reached each of the `RUN_STATUSES`. */
  readonly #counts = new Map<Trigger | typeof NO_TRIGGER, number[]>();
  /** By status. */
  readonly #durations = new Map<RunStatus, DurationSeries>();
  retries = 0;

  constructor(label: string) {
    this.label = label;
  }

  /** Shows the series from 0 on: an alert on an increase would miss the first failure otherwise. */
  show(triggers: readonly Trigger[]): this {
    for (const trigger of [NO_TRIGGER, ...triggers] as const) this.#countsOf(trigger);
    return this;
  }

  recordStatus(status: RunStatus, trigger: Trigger | null): void {
    const counts = this.#countsOf(trigger ?? NO_TRIGGER);
    const index = RUN_STATUSES.indexOf(status);
    counts[index] = (counts[index] ?? 0) + 1;
  }

  recordDuration(status: RunStatus, durationMs: number): void {
    let durations = this.#durations.get(status);
    if (durations === undefined) {
      durations = new DurationSeries({ pipeline: this.label, status }, RUN_BUCKETS);
      this.#durations.set(status, durations);
    }
    durations.add(durationMs);
  }

  listCounts(metricName: string): Sample[] {
    return [...this.#counts].flatMap(([trigger, counts]) =>
      RUN_STATUSES.map((status, index) => ({
        metricName,
        labels: { pipeline: this.label, status, trigger },
        sharedLabels: {},
        value: counts[index] ?? 0,
      })),
    );
  }

  listDurations(metricName: string): Sample[] {
    return [...this.#durations.values()].flatMap((series) => series.list(metricName));
  }

  listRetries(metricName: string): Sample[] {
    return [toSample(metricName, this.label, this.retries)];
  }

  #countsOf(trigger: Trigger | typeof NO_TRIGGER): number[] {
    let counts = this.#counts.get(trigger);
    if (counts === undefined) this.#counts.set(trigger, (counts = RUN_STATUSES.map(() => 0)));
    return counts;
  }
}

/**
 * Runs by pipeline. Labels are bounded: those of the folder, and of the pipelines that callers send the ids of the 100 busiest
 * that are no label of the folder; all others are `other`. So nobody can push the pipelines of the folder out of the metrics,
 * or count runs as theirs.
 */
export class PipelineMetrics {
  readonly #clock: Clock;
  readonly #busiest = new BusiestIds();
  readonly #other = new PipelineSeries(OTHER).show([]);
  readonly #series = new Map([[OTHER, this.#other]]);
  #folder = NO_FOLDER;
  #rankedAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#rankedAt = clock.monotonicNow();
  }

  watchFolder(folder: MeasuredFolder): void {
    this.#folder = folder;
  }

  /** Forgets all runs and the folder. */
  close(): void {
    this.#series.clear();
    this.#folder = NO_FOLDER;
  }

  recordStatus(status: RunStatus, run: RunIdentity): void {
    const series = this.#find(run, status === 'queued');
    series.recordStatus(status, run.trigger);
  }

  recordRetry(run: RunIdentity): void {
    this.#find(run, false).retries++;
  }

  /** Records how long a run was at work; nothing for one that was cancelled before. */
  recordSettled({ tenantId, definitionId, isOfFolder, status, startedAt, finishedAt }: SettledRun): void {
    if (startedAt === null || finishedAt === null) return;
    const run = { tenant_id: tenantId, pipeline_id: definitionId, is_of_folder: isOfFolder };
    this.#find(run, false).recordDuration(status, finishedAt - startedAt);
  }

  /** Lists the metrics as they are now. */
  list(): readonly LongMetric[] {
    this.#update();
    const series = [...this.#series.values()];
    const define = (
      type: LongMetric['type'],
      name: string,
      help: string,
      list: (one: PipelineSeries, name: string) => Sample[],
    ): LongMetric => ({
      type,
      name,
      help,
      *list() {
        for (const one of series) yield list(one, name);
      },
    });
    return [
      define('counter', 'wavetrain_runs_total', RUNS_HELP, (one, name) => one.listCounts(name)),
      define('histogram', 'wavetrain_run_duration_seconds', DURATION_HELP, (one, name) =>
        one.listDurations(name),
      ),
      define('counter', 'wavetrain_run_retries_total', RETRIES_HELP, (one, name) => one.listRetries(name)),
      ...listScheduleMetrics(this.#folder),
    ];
  }

  /** Gives labels to those that should have them now, and takes them from the others. */
  #update(): void {
    const now = this.#clock.monotonicNow();
    if (now - this.#rankedAt >= RANKING_MS) {
      this.#busiest.rank();
      this.#rankedAt = now;
    }
    for (const { label, triggers } of this.#folder.list()) this.#get(label).show(triggers);
    for (const label of this.#series.keys()) {
      const isKept = label === OTHER || this.#busiest.has(label) || this.#folder.isLabel(label);
      if (!isKept) this.#series.delete(label);
    }
  }

  #find(
    { tenant_id, pipeline_id: id, is_of_folder }: Omit<RunIdentity, 'run_id' | 'trigger'>,
    isNew: boolean,
  ): PipelineSeries {
    const label = is_of_folder ? this.#folder.labelOf(tenant_id, id) : undefined;
    if (label !== undefined) return this.#get(label);
    if (this.#folder.isLabel(id)) return this.#other;
    const isBusy = isNew ? this.#busiest.count(id) : this.#busiest.has(id);
    return isBusy ? this.#get(id) : this.#other;
  }

  #get(label: string): PipelineSeries {
    let series = this.#series.get(label);
    if (series === undefined) this.#series.set(label, (series = new PipelineSeries(label)));
    return series;
  }
}

const RUNS_HELP = 'Runs that have reached a status since the server started. Every run starts as queued.';
const DURATION_HELP = 'Time from the start of a run to its end, without its wait in the queue.';
const RETRIES_HELP = 'Attempts of the tasks of runs that followed a failed one.';

function* listSchedules(
  folder: MeasuredFolder,
  toValue: (schedule: MeasuredSchedule) => number | null,
  name: string,
): Iterable<Sample[]> {
  for (const schedule of folder.schedules()) {
    const value = toValue(schedule);
    if (value !== null) yield [toSample(name, schedule.label, value)];
  }
}

function listScheduleMetrics(folder: MeasuredFolder): LongMetric[] {
  const define = (
    name: string,
    help: string,
    toValue: (schedule: MeasuredSchedule) => number | null,
  ): LongMetric => ({ name, help, type: 'gauge', list: () => listSchedules(folder, toValue, name) });
  return [
    define(
      'wavetrain_schedule_last_success_timestamp_seconds',
      'When the last run of a pipeline with a schedule has succeeded, whatever has started it, in seconds since 1970.',
      ({ succeededAt }) => succeededAt && succeededAt / 1000,
    ),
    define(
      'wavetrain_schedule_lateness_seconds',
      'Time since the first time of a schedule that was due and has started no run; 0 when there is none.',
      ({ lateMs }) => lateMs / 1000,
    ),
  ];
}

function toSample(metricName: string, label: string, value: number): Sample {
  return { metricName, labels: { pipeline: label }, sharedLabels: {}, value };
}
