import { Registry } from 'prom-client';
import type { AttemptObserver } from '../execution/attempt-observer.js';
import type { LiveEvent, TaskEvent } from '../execution/event.js';
import type { RunFacts, RunRegistry } from '../runs/registry.js';
import { LoopFigures, type LoopMonitor } from './loop-figures.js';
import { processFigures } from './process-figures.js';
import { RequestFigures } from './request-figures.js';
import { RunFigures } from './run-figures.js';
import { TaskFigures } from './task-figures.js';

const OUTCOMES = { finish: 'succeeded', fail: 'failed' } as const;

/**
 * The figures of a server, as Prometheus reads them (D35). Runs, tenants and paths are never labels: there is no end
 * of them, and a series is kept for each.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #runs = new RunFigures(this.#registry);
  readonly #tasks = new TaskFigures(this.#registry);
  readonly #requests = new RequestFigures(this.#registry);
  readonly #loop: LoopFigures;
  readonly #host = processFigures();

  constructor(monitor?: LoopMonitor) {
    this.#loop = new LoopFigures(this.#registry, monitor);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** The figures as they are now, in the text format of Prometheus. */
  async read(): Promise<string> {
    return (await this.#registry.metrics()) + (await this.#host.metrics());
  }

  /** A request was answered by `route`, which is a path of the table or `none`. */
  answered(route: string, method: string, status: number, durationMs: number): void {
    this.#requests.answered(route, method, status, durationMs);
  }

  /** Hears every event of every run. */
  readonly onEvent = (event: LiveEvent, _run: RunFacts): void => {
    if (event.kind === 'run') this.#runs.entered(event.status);
    else if (event.kind === 'finish' || event.kind === 'fail') this.#ended(event);
  };

  /** Hears of every attempt. */
  readonly onAttempt: AttemptObserver = ({ tool, attempt }) => this.#tasks.attemptBegan(tool, attempt);

  /** Asks this registry, whenever the figures are read, what it keeps. */
  watch(registry: RunRegistry): void {
    this.#runs.watch(registry);
  }

  /** Stops measuring, and lets go of everything that was counted. */
  close(): void {
    this.#loop.close();
    this.#registry.clear();
  }

  /** A task whose output was taken over did not take the time it says. */
  #ended({ kind, tool, duration_ms: durationMs, reused }: TaskEvent): void {
    if (reused || durationMs === undefined || kind === 'start') return;
    this.#tasks.taskEnded(tool, OUTCOMES[kind], durationMs);
  }
}
