import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { RunStatus } from '../../machines/types.js';
import type { RunRegistry } from '../runs/registry.js';

const STATUSES: readonly RunStatus[] = ['queued', 'running', 'succeeded', 'failed', 'cancelled'];

/** The number of runs by status: how many have reached it, and how many have it now. */
export class RunMetrics {
  readonly #total: Counter<'status'>;
  /** Counts since the last read: adding to a plain number is much faster than to a Counter. */
  readonly #unread = new Map<RunStatus, number>();
  #runs: RunRegistry | undefined;

  constructor(registry: Registry) {
    this.#total = new Counter({
      name: 'wavetrain_runs_total',
      help: 'Runs that have reached a status since the server started. Every run starts as queued.',
      labelNames: ['status'],
      registers: [registry],
      collect: () => this.#collect(),
    });
    for (const status of STATUSES) this.#total.inc({ status }, 0);
    this.#addKeptGauge(registry);
    this.#addLoadGauge(registry, 'queued', 'Runs that wait to start.');
    this.#addLoadGauge(registry, 'running', 'Running runs, including cancelled ones that have not settled.');
  }

  /** Reads the number of runs from this registry from now on. */
  watch(runs: RunRegistry): void {
    this.#runs = runs;
  }

  recordStatus(status: RunStatus): void {
    this.#unread.set(status, (this.#unread.get(status) ?? 0) + 1);
  }

  #collect(): void {
    for (const [status, count] of this.#unread) this.#total.inc({ status }, count);
    this.#unread.clear();
  }

  #addKeptGauge(registry: Registry): void {
    const kept = new Gauge({
      name: 'wavetrain_runs_kept',
      help: 'Runs that the server keeps, by status.',
      labelNames: ['status'],
      registers: [registry],
      collect: () => {
        const counts = this.#runs?.countByStatus();
        for (const status of STATUSES) kept.set({ status }, counts?.get(status) ?? 0);
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

/** Attempts of one tool since the last read: adding to a plain number is much faster than to a Counter. */
interface AttemptCounts {
  succeeded: number;
  failed: number;
  retries: number;
}

const ZERO_COUNTS: Readonly<AttemptCounts> = { succeeded: 0, failed: 0, retries: 0 };

/** Durations of tasks, and the number of attempts, retries and invocations in flight. */
export class TaskMetrics {
  readonly #durations: Histogram<'tool' | 'outcome'>;
  readonly #attempts: Counter<'tool' | 'outcome'>;
  readonly #retries: Counter<'tool'>;
  /** By tool. */
  readonly #unread = new Map<string, AttemptCounts>();
  #inFlight = 0;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#durations = new Histogram({
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
      registers,
      collect: () => this.#collect(),
    });
    this.#retries = new Counter({
      name: 'wavetrain_retries_total',
      help: 'Attempts of tools that followed a failed one.',
      labelNames: ['tool'],
      registers,
      collect: () => this.#collect(),
    });
    const inFlight = new Gauge({
      name: 'wavetrain_invocations_in_flight',
      help: 'Tools that are running now, without those that wait for their next attempt.',
      registers,
      collect: (): void => inFlight.set(this.#inFlight),
    });
  }

  recordTask(tool: string, outcome: 'succeeded' | 'failed', durationMs: number): void {
    this.#durations.observe({ tool, outcome }, durationMs / 1000);
  }

  /**
   * Returns a function to be called when the attempt ends.
   *
   * @param attempt from 1
   */
  startAttempt(tool: string, attempt: number): (error?: string) => void {
    const counts = this.#getCounts(tool);
    this.#inFlight++;
    if (attempt > 1) counts.retries++;
    return (error) => {
      this.#inFlight--;
      if (error === undefined) counts.succeeded++;
      else counts.failed++;
    };
  }

  #getCounts(tool: string): AttemptCounts {
    let counts = this.#unread.get(tool);
    if (counts === undefined) this.#unread.set(tool, (counts = { ...ZERO_COUNTS }));
    return counts;
  }

  #collect(): void {
    for (const [tool, counts] of this.#unread) {
      this.#attempts.inc({ tool, outcome: 'succeeded' }, counts.succeeded);
      this.#attempts.inc({ tool, outcome: 'failed' }, counts.failed);
      this.#retries.inc({ tool }, counts.retries);
      Object.assign(counts, ZERO_COUNTS);
    }
  }
}
