import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { AttemptObserver } from '../execution/invocation/attempt-observer.js';
import type { LiveEvent, TaskEvent } from '../execution/events/event.js';
import type { RunFacts, RunRegistry } from '../runs/registry.js';
import { RunFigures, TaskFigures } from './run-metrics.js';

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

/** How often the loop is looked at. Node.js counts this time into every delay that it tells. */
const INTERVAL_MS = 10;

/** What is needed of Node's monitor; times in nanoseconds. */
export type LoopMonitor = Pick<
  IntervalHistogram,
  'count' | 'mean' | 'max' | 'percentile' | 'reset' | 'enable' | 'disable'
>;

/** How long timers had to wait because the event loop was busy, since it was last read. */
export class LoopFigures {
  readonly #monitor: LoopMonitor;

  constructor(registry: Registry, monitor: LoopMonitor = monitorEventLoopDelay({ resolution: INTERVAL_MS })) {
    this.#monitor = monitor;
    monitor.enable();
    const lag = new Gauge({
      name: 'wavetrain_event_loop_lag_seconds',
      help: 'How late the event loop was since the last reading. Unlike nodejs_eventloop_lag, 0 when it was never late.',
      labelNames: ['of'],
      registers: [registry],
      collect: () => {
        lag.set({ of: 'mean' }, this.#lag(monitor.mean));
        lag.set({ of: 'p99' }, this.#lag(monitor.percentile(99)));
        lag.set({ of: 'max' }, this.#lag(monitor.max));
        monitor.reset();
      },
    });
  }

  /** Looks no more. */
  close(): void {
    this.#monitor.disable();
  }

  #lag(delayNs: number): number {
    return this.#monitor.count === 0 ? 0 : Math.max(0, delayNs / 1e6 - INTERVAL_MS) / 1000;
  }
}

let figures: Registry | undefined;

/**
 * Memory, processor time and garbage collection of this process, under the names that dashboards for Node.js know
 * (`process_*`, `nodejs_*`). There is one process and what watches it cannot be stopped again, so it is begun once,
 * whoever asks.
 */
function processFigures(): Registry {
  if (figures === undefined) {
    figures = new Registry();
    collectDefaultMetrics({ register: figures });
  }
  return figures;
}

/** Upper bounds in seconds: from a health check to a synchronous run or a stream. */
const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** A caller may make up methods; each would be a series of its own. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** What callers asked for, and how long they waited. */
class RequestFigures {
  readonly #requests: Counter<'route' | 'method' | 'status'>;
  readonly #durations: Histogram<'route' | 'method'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#requests = new Counter({
      name: 'wavetrain_http_requests_total',
      help: 'Requests that were answered. The route of those that none took is "none".',
      labelNames: ['route', 'method', 'status'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'wavetrain_http_request_duration_seconds',
      help: 'Time from a request to the end of its answer; that of an event stream is as long as it was open.',
      labelNames: ['route', 'method'],
      buckets: REQUEST_SECONDS,
      registers,
    });
  }

  /** @param route a path of the route table, or `none` */
  answered(route: string, method: string, status: number, durationMs: number): void {
    const known = METHODS.has(method) ? method : 'other';
    this.#requests.inc({ route, method: known, status });
    this.#durations.observe({ route, method: known }, durationMs / 1000);
  }
}
