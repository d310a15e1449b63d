import { Counter, Gauge, type Registry } from 'prom-client';
import type { RunStatus } from '../../machines/vocabulary.js';
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
