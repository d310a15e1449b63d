import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { RunStatus } from '../../machines/types.js';
import type { RunRegistry } from '../runs/registry.js';

const STATUSES: readonly RunStatus[] = ['queued', 'running', 'succeeded', 'failed', 'cancelled'];

/** How many runs came, wait, are at work and are kept, by status. */
export class RunFigures {
  readonly #entered: Counter<'status'>;
  /** Those that no reader has seen yet: counting them in numbers costs next to nothing. */
  readonly #unread = new Map<RunStatus, number>();
  #runs: RunRegistry | undefined;

  constructor(registry: Registry) {
    this.#entered = new Counter({
      name: 'wavetrain_runs_total',
      help: 'Runs that came to a status since the server began. Every run begins as queued.',
      labelNames: ['status'],
      registers: [registry],
      collect: () => this.#bringUpToDate(),
    });
    for (const status of STATUSES) this.#entered.inc({ status }, 0);
    this.#keep(registry);
    this.#load(registry, 'queued', 'Runs that wait for a place.');
    this.#load(registry, 'running', 'Runs at work, cancelled ones that have not settled included.');
  }

  /** From now on the registry is asked whenever the figures are read. */
  watch(runs: RunRegistry): void {
    this.#runs = runs;
  }

  /** A run has come to a status. */
  entered(status: RunStatus): void {
    this.#unread.set(status, (this.#unread.get(status) ?? 0) + 1);
  }

  #bringUpToDate(): void {
    for (const [status, count] of this.#unread) this.#entered.inc({ status }, count);
    this.#unread.clear();
  }

  #keep(registry: Registry): void {
    const kept = new Gauge({
      name: 'wavetrain_runs_kept',
      help: 'Runs that can be asked for, by status.',
      labelNames: ['status'],
      registers: [registry],
      collect: () => {
        const counts = this.#runs?.statuses();
        for (const status of STATUSES) kept.set({ status }, counts?.get(status) ?? 0);
      },
    });
  }

  #load(registry: Registry, which: 'queued' | 'running', help: string): void {
    const load = new Gauge({
      name: `wavetrain_runs_${which}`,
      help,
      registers: [registry],
      collect: (): void => load.set(this.#runs?.load[which] ?? 0),
    });
  }
}

/** Upper bounds in seconds: from a mock to a tool that works for an hour. */
const TASK_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];

export type Outcome = 'succeeded' | 'failed';

/** The attempts of one tool that no reader has seen yet: counting them in numbers costs next to nothing. */
interface Unread {
  succeeded: number;
  failed: number;
  retries: number;
}

const NONE: Readonly<Unread> = { succeeded: 0, failed: 0, retries: 0 };

/** What tools do: durations of tasks, attempts, repeats, and how many are at work. */
export class TaskFigures {
  readonly #durations: Histogram<'tool' | 'outcome'>;
  readonly #attempts: Counter<'tool' | 'outcome'>;
  readonly #retries: Counter<'tool'>;
  readonly #unread = new Map<string, Unread>();
  #inFlight = 0;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#durations = new Histogram({
      name: 'wavetrain_task_duration_seconds',
      help: 'Time from the start of a task to its end, with all its items, attempts and waits.',
      labelNames: ['tool', 'outcome'],
      buckets: TASK_SECONDS,
      registers,
    });
    this.#attempts = new Counter({
      name: 'wavetrain_attempts_total',
      help: 'Attempts of tools that are over.',
      labelNames: ['tool', 'outcome'],
      registers,
      collect: () => this.#bringUpToDate(),
    });
    this.#retries = new Counter({
      name: 'wavetrain_retries_total',
      help: 'Attempts of tools that followed a failed one.',
      labelNames: ['tool'],
      registers,
      collect: () => this.#bringUpToDate(),
    });
    const inFlight = new Gauge({
      name: 'wavetrain_invocations_in_flight',
      help: 'Tools that are at work now. Those that wait for their next attempt are not.',
      registers,
      collect: (): void => inFlight.set(this.#inFlight),
    });
  }

  taskEnded(tool: string, outcome: Outcome, durationMs: number): void {
    this.#durations.observe({ tool, outcome }, durationMs / 1000);
  }

  /** @param attempt from 1 */
  attemptBegan(tool: string, attempt: number): (error?: string) => void {
    const unread = this.#unreadOf(tool);
    this.#inFlight++;
    if (attempt > 1) unread.retries++;
    return (error) => {
      this.#inFlight--;
      if (error === undefined) unread.succeeded++;
      else unread.failed++;
    };
  }

  #unreadOf(tool: string): Unread {
    let unread = this.#unread.get(tool);
    if (unread === undefined) this.#unread.set(tool, (unread = { ...NONE }));
    return unread;
  }

  #bringUpToDate(): void {
    for (const [tool, unread] of this.#unread) {
      this.#attempts.inc({ tool, outcome: 'succeeded' }, unread.succeeded);
      this.#attempts.inc({ tool, outcome: 'failed' }, unread.failed);
      this.#retries.inc({ tool }, unread.retries);
      Object.assign(unread, NONE);
    }
  }
}
