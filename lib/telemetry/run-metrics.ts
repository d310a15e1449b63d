import { Counter, Gauge, type Registry } from 'prom-client';
import type { RunStatus } from '../../machines/types.js';
import type { EvictionReason } from '../runs/retention.js';
import type { PruneReason } from '../runs/store/run-archive.js';
import type { RunQueries } from '../runs/views/run-queries.js';
import { DurationHistogram, type DurationSeries } from './duration-histogram.js';

const PRUNE_REASONS: readonly PruneReason[] = ['age', 'number', 'bytes', 'keep'];

const EVICTION_REASONS: readonly EvictionReason[] = ['age', 'number', 'bytes', 'memory'];

export const RUN_STATUSES: readonly RunStatus[] = ['queued', 'running', 'succeeded', 'failed', 'cancelled'];

/** The runs that are there, and those that are not: pruned, evicted or skipped. */
export class RunMetrics {
  readonly #pruned: Counter<'reason'>;
  readonly #evicted: Counter<'reason'>;
  readonly #skipped: Counter<'by'>;
  #runs: RunQueries | undefined;

  constructor(registry: Registry) {
    this.#pruned = new Counter({
      name: 'wavetrain_runs_pruned_total',
      help: 'Settled runs that were deleted from the store since the server started, by the limit that they exceeded.',
      labelNames: ['reason'],
      registers: [registry],
    });
    for (const reason of PRUNE_REASONS) this.#pruned.inc({ reason }, 0);
    this.#evicted = new Counter({
      name: 'wavetrain_runs_evicted_total',
      help: 'Settled runs that have left the memory since the server started, by the limit that they exceeded, or because others needed it. Without a store, they are gone.',
      labelNames: ['reason'],
      registers: [registry],
    });
    for (const reason of EVICTION_REASONS) this.#evicted.inc({ reason }, 0);
    this.#skipped = new Counter({
      name: 'wavetrain_runs_skipped_total',
      help: 'Runs that a schedule or a webhook did not start, because as many of their definition were at work as max_running allows.',
      labelNames: ['by'],
      registers: [registry],
    });
    for (const by of ['schedule', 'webhook']) this.#skipped.inc({ by }, 0);
    this.#addKeptGauge(registry);
    this.#addLoadGauge(registry, 'queued', 'Runs that wait to start.');
    this.#addLoadGauge(registry, 'running', 'Running runs, including cancelled ones that have not settled.');
  }

  /** Reads the number of runs here from now on. */
  watch(runs: RunQueries): void {
    this.#runs = runs;
  }

  recordPruned(reason: PruneReason): void {
    this.#pruned.inc({ reason });
  }

  recordEvicted(reason: EvictionReason): void {
    this.#evicted.inc({ reason });
  }

  recordSkipped(by: 'schedule' | 'webhook'): void {
    this.#skipped.inc({ by });
  }

  #addKeptGauge(registry: Registry): void {
    const kept = new Gauge({
      name: 'wavetrain_runs_kept',
      help: 'Runs that the server keeps, by status.',
      labelNames: ['status'],
      registers: [registry],
      collect: async () => {
        const counts = await this.#runs?.countByStatus();
        for (const status of RUN_STATUSES) kept.set({ status }, counts?.get(status) ?? 0);
      },
    });
  }

  #addLoadGauge(registry: Registry, load: 'queued' | 'running', help: string): void {
    const gauge = new Gauge({
      name: `wavetrain_runs_${load}`,
      help,
      registers: [registry],
      collect: (): void => gauge.set(this.#runs?.load[load] ?? 0),
    });
  }
}

/** Upper bounds in seconds: from a mock to a tool that works for an hour. */
const TASK_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];

type TaskOutcome = 'succeeded' | 'failed';

/** The tasks of one tool, and its attempts since the last read: adding to a plain number is much faster than to a Counter. */
interface ToolMetrics {
  readonly durations: Readonly<Record<TaskOutcome, DurationSeries>>;
  succeeded: number;
  failed: number;
  retries: number;
  cacheHits: number;
  skipped: number;
}

/** Durations of tasks, and the number of attempts, retries and invocations in flight. */
export class TaskMetrics {
  readonly #durations: DurationHistogram<'tool' | 'outcome'>;
  readonly #attempts: Counter<'tool' | 'outcome'>;
  readonly #retries: Counter<'tool'>;
  readonly #cacheHits: Counter<'tool'>;
  readonly #skipped: Counter<'tool'>;
  readonly #tools = new Map<string, ToolMetrics>();
  #inFlight = 0;

  constructor(registry: Registry) {
    const registers = [registry];
    const counted = { registers, collect: () => this.#collect() };
    this.#durations = new DurationHistogram({
      name: 'wavetrain_task_duration_seconds',
      help: 'Time from the start of a task to its end, including all items, attempts and delays.',
      labelNames: ['tool', 'outcome'],
      buckets: TASK_BUCKETS,
      registers,
    });
    this.#attempts = new Counter({
      name: 'wavetrain_attempts_total',
      help: 'Finished attempts of tools.',
      labelNames: ['tool', 'outcome'],
      ...counted,
    });
    this.#retries = new Counter({
      name: 'wavetrain_retries_total',
      help: 'Attempts of tools that followed a failed one.',
      labelNames: ['tool'],
      ...counted,
    });
    this.#cacheHits = new Counter({
      name: 'wavetrain_cache_hits_total',
      help: 'Invocations of tools that were not made, because the output of an equal one was in the cache.',
      labelNames: ['tool'],
      ...counted,
    });
    this.#skipped = new Counter({
      name: 'wavetrain_tasks_skipped_total',
      help: 'Tasks that called nothing, because a condition did not hold or an output was missing.',
      labelNames: ['tool'],
      ...counted,
    });
    const inFlight = new Gauge({
      name: 'wavetrain_invocations_in_flight',
      help: 'Tools that are running now, without those that wait for their next attempt.',
      registers,
      collect: (): void => inFlight.set(this.#inFlight),
    });
  }

  recordTask(tool: string, outcome: TaskOutcome, durationMs: number): void {
    this.#getTool(tool).durations[outcome].add(durationMs);
  }

  recordSkip(tool: string): void {
    this.#getTool(tool).skipped++;
  }

  recordCacheHits(tool: string, count: number): void {
    if (count > 0) this.#getTool(tool).cacheHits += count;
  }

  /** Returns a function to be called when the attempt ends. @param attempt from 1 */
  startAttempt(tool: string, attempt: number): (error?: string) => void {
    const metrics = this.#getTool(tool);
    this.#inFlight++;
    if (attempt > 1) metrics.retries++;
    return (error) => {
      this.#inFlight--;
      if (error === undefined) metrics.succeeded++;
      else metrics.failed++;
    };
  }

  #getTool(tool: string): ToolMetrics {
    const existing = this.#tools.get(tool);
    if (existing !== undefined) return existing;
    const succeeded = this.#durations.createSeries({ tool, outcome: 'succeeded' });
    const failed = this.#durations.createSeries({ tool, outcome: 'failed' });
    const metrics = {
      durations: { succeeded, failed },
      succeeded: 0,
      failed: 0,
      retries: 0,
      cacheHits: 0,
      skipped: 0,
    };
    this.#tools.set(tool, metrics);
    return metrics;
  }

  #collect(): void {
    for (const [tool, metrics] of this.#tools) {
      this.#attempts.inc({ tool, outcome: 'succeeded' }, metrics.succeeded);
      this.#attempts.inc({ tool, outcome: 'failed' }, metrics.failed);
      this.#retries.inc({ tool }, metrics.retries);
      this.#cacheHits.inc({ tool }, metrics.cacheHits);
      if (metrics.skipped > 0) this.#skipped.inc({ tool }, metrics.skipped);
      Object.assign(metrics, { succeeded: 0, failed: 0, retries: 0, cacheHits: 0, skipped: 0 });
    }
  }
}
