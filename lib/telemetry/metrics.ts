import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { type Clock, systemClock } from '../common/clock.js';
import { eventLoopOverruns } from '../common/scheduling/event-loop-overruns.js';
import type { MemoryPool } from '../common/memory/memory-pool.js';
import type { TaskPools } from '../common/scheduling/task-pools.js';
import type { AttemptObserver } from '../execution/invocation/attempt/attempt-observer.js';
import type { TaskEvent } from '../execution/events/event.js';
import type { TokenCounts } from '../models/model.js';
import type { EvictionReason } from '../runs/retention.js';
import type { RunEventListener, SettledRunListener } from '../runs/run-entry.js';
import type { PruneReason } from '../runs/store/run-archive.js';
import type { RunQueries } from '../runs/views/run-queries.js';
import { CompileMetrics, type CompileOutcome } from './compile-metrics.js';
import { DurationHistogram, type DurationSeries } from './duration-histogram.js';
import { EventLoopMetrics, type EventLoopMonitor } from './event-loop-metrics.js';
import { writeLongMetric } from './long-metric.js';
import { ModelMetrics } from './model-metrics.js';
import { type MeasuredFolder, PipelineMetrics } from './pipeline-metrics.js';
import { addPoolGauges } from './pool-metrics.js';
import { RunMetrics, TaskMetrics } from './run-metrics.js';

const OUTCOMES = { finish: 'succeeded', fail: 'failed' } as const;

/**
 * The metrics of a server for Prometheus (D35). Runs, tenants and paths are never labels: each label
 * value is a time series of its own, and their number is unlimited. That of pipelines is bounded.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #runs = new RunMetrics(this.#registry);
  readonly #tasks = new TaskMetrics(this.#registry);
  readonly #models = new ModelMetrics(this.#registry);
  readonly #compilations = new CompileMetrics(this.#registry);
  readonly #requests = new RequestMetrics(this.#registry);
  readonly #reloads = addReloadCounter(this.#registry);
  readonly #pipelines: PipelineMetrics;
  readonly #eventLoop: EventLoopMetrics;
  readonly #processRegistry = processMetrics();

  constructor(monitor?: EventLoopMonitor, clock: Clock = systemClock) {
    this.#pipelines = new PipelineMetrics(clock);
    this.#eventLoop = new EventLoopMetrics(this.#registry, monitor);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /**
   * Returns the current values in the text format of Prometheus.
   *
   * @param pause is called between the metrics, of which some take long when there are many connections; resolves when the
   *   next one may be read
   */
  async read(pause: () => Promise<void> | undefined = () => undefined): Promise<string> {
    const texts: string[] = [];
    for (const registry of [this.#registry, this.#processRegistry]) {
      for (const { name } of registry.getMetricsAsArray()) {
        await pause();
        const text = eventLoopOverruns.measure('metrics', () => registry.getSingleMetricAsString(name));
        texts.push(await text);
      }
    }
    for (const metric of this.#pipelines.list()) texts.push(await writeLongMetric(metric, pause));
    return `${texts.join('\n\n')}\n`;
  }

  /** Counts a run that was deleted because it exceeded a limit of the store. */
  recordPruned(reason: PruneReason): void {
    this.#runs.recordPruned(reason);
  }

  /** Counts a settled run that has left the memory. */
  recordEvicted(reason: EvictionReason): void {
    this.#runs.recordEvicted(reason);
  }

  /** Counts a run that a schedule or a webhook did not start, because others of its definition were at work (D81). */
  recordSkipped(by: 'schedule' | 'webhook'): void {
    this.#runs.recordSkipped(by);
  }

  /** Counts an attempt to read the configuration again. */
  recordReload(isUsed: boolean): void {
    this.#reloads.inc({ result: isUsed ? 'success' : 'failure' });
  }

  /**
   * @param route a path of the route table, or `none`
   * @param code of the error, unless the request succeeded
   */
  recordRequest(route: string, method: string, status: number, durationMs: number, code?: string): void {
    this.#requests.record(route, method, status, durationMs);
    if (code !== undefined) this.#requests.recordError(code);
  }

  /** @param durationMs from the request, with the wait for its turn */
  recordCompilation(outcome: CompileOutcome, durationMs: number): void {
    this.#compilations.record(outcome, durationMs);
  }

  /** Counts an answer to a request to compile. */
  recordCompileAnswer(model: string, usage: TokenCounts): void {
    this.#compilations.recordAnswer();
    this.#models.record({ model, requests: 1, ...usage });
  }

  /** Receives every event of every run. */
  readonly onEvent: RunEventListener = (event, run): void => {
    if (event.kind === 'run') this.#pipelines.recordStatus(event.status, run);
    else if (event.kind === 'retry') this.#pipelines.recordRetry(run);
    else if (event.kind === 'usage') this.#models.record(event.usage);
    else if (event.kind === 'finish' || event.kind === 'fail') this.#recordTask(event);
    else if (event.kind === 'skip') this.#tasks.recordSkip(event.tool);
  };

  /** Receives every run that has settled. */
  readonly onSettled: SettledRunListener = (run) => this.#pipelines.recordSettled(run);

  /** Observes every attempt. */
  readonly onAttempt: AttemptObserver = ({ tool, attempt }) => this.#tasks.startAttempt(tool, attempt);

  /** Reads the number of runs here whenever the metrics are read. */
  watch(runs: RunQueries): void {
    this.#runs.watch(runs);
  }

  /** Reads the definitions of the folder, and their schedules, whenever the metrics are read. */
  watchFolder(folder: MeasuredFolder): void {
    this.#pipelines.watchFolder(folder);
  }

  /** Reads the memory of the server from this pool whenever the metrics are read. */
  watchMemory(memory: MemoryPool): void {
    addMemoryGauges(this.#registry, memory);
  }

  /** Reads the places of these pools whenever the metrics are read. */
  watchPools(pools: TaskPools): void {
    addPoolGauges(this.#registry, pools);
  }

  /** Stops measuring and frees all values. */
  close(): void {
    this.#eventLoop.close();
    this.#registry.clear();
    this.#pipelines.close();
  }

  #recordTask(event: TaskEvent): void {
    const { kind, tool, duration_ms: durationMs, reused, cached, cached_items: items = 0 } = event;
    this.#tasks.recordCacheHits(tool, cached ? 1 : items);
    // A reused task keeps the duration of the earlier run.
    if (reused || durationMs === undefined || kind === 'start' || kind === 'skip') return;
    this.#tasks.recordTask(tool, OUTCOMES[kind], durationMs);
  }
}

/** Upper bounds in seconds: from a health check to a synchronous run or an event stream. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Other methods are counted as one, because a caller may invent any number of them. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The requests of one route with one method and status, and their number since the last read. */
interface RequestCounts {
  readonly labels: { readonly route: string; readonly method: string; readonly status: number };
  readonly durations: DurationSeries;
  unread: number;
}

class RequestMetrics {
  readonly #requests: Counter<'route' | 'method' | 'status'>;
  readonly #durations: DurationHistogram<'route' | 'method'>;
  readonly #errors: Counter<'code'>;
  readonly #series = new Map<string, DurationSeries>();
  readonly #counts = new Map<string, RequestCounts>();

  constructor(registry: Registry) {
    const registers = [registry];
    this.#requests = new Counter({
      name: 'wavetrain_http_requests_total',
      help: 'HTTP requests. The route of a request that matches no route is "none".',
      labelNames: ['route', 'method', 'status'],
      registers,
      collect: () => this.#collect(),
    });
    this.#durations = new DurationHistogram({
      name: 'wavetrain_http_request_duration_seconds',
      help: 'Time from a request to the end of its response; for an event stream, how long it was open.',
      labelNames: ['route', 'method'],
      buckets: REQUEST_BUCKETS,
      registers,
    });
    this.#errors = new Counter({
      name: 'wavetrain_http_errors_total',
      help: 'Requests that were refused or whose run failed, by the code of the error.',
      labelNames: ['code'],
      registers,
    });
  }

  recordError(code: string): void {
    this.#errors.inc({ code });
  }

  record(route: string, sentMethod: string, status: number, durationMs: number): void {
    const method = METHODS.has(sentMethod) ? sentMethod : 'other';
    const counts = this.#getCounts(route, method, status);
    counts.unread++;
    counts.durations.add(durationMs);
  }

  #getCounts(route: string, method: string, status: number): RequestCounts {
    const key = `${status} ${method} ${route}`;
    let counts = this.#counts.get(key);
    if (counts === undefined) {
      counts = { labels: { route, method, status }, durations: this.#getSeries(route, method), unread: 0 };
      this.#counts.set(key, counts);
    }
    return counts;
  }

  #getSeries(route: string, method: string): DurationSeries {
    const key = `${method} ${route}`;
    let series = this.#series.get(key);
    if (series === undefined) {
      this.#series.set(key, (series = this.#durations.createSeries({ route, method })));
    }
    return series;
  }

  #collect(): void {
    for (const counts of this.#counts.values()) {
      if (counts.unread > 0) this.#requests.inc(counts.labels, counts.unread);
      counts.unread = 0;
    }
  }
}

/** Attempts to read keys, secrets, tools and settings again. */
function addReloadCounter(registry: Registry): Counter<'result'> {
  const counter = new Counter({
    name: 'wavetrain_config_reloads_total',
    help: 'How often the configuration was read again: success, or failure when all stayed as it was.',
    labelNames: ['result'],
    registers: [registry],
  });
  for (const result of ['success', 'failure']) counter.inc({ result }, 0);
  return counter;
}

/** The memory that SERVICE_MEMORY limits (D25). */
function addMemoryGauges(registry: Registry, memory: MemoryPool): void {
  const add = (name: string, help: string, read: () => number): void => {
    const gauge = new Gauge({ name, help, registers: [registry], collect: (): void => gauge.set(read()) });
  };
  add(
    'wavetrain_memory_used_bytes',
    'Memory of bodies, runs and responses, as SERVICE_MEMORY counts it.',
    () => memory.usedBytes,
  );
  add(
    'wavetrain_memory_largest_tenant_bytes',
    'What the tenant that uses most of this memory uses.',
    () => memory.largestBytes,
  );
  add(
    'wavetrain_memory_limit_bytes',
    'SERVICE_MEMORY. All tenants together may use twice as much, because each may always use its share.',
    () => memory.totalBytes,
  );
}

let sharedRegistry: Registry | undefined;

/**
 * Returns memory, CPU time and garbage collection of this process, under the usual names for Node.js (`process_*`,
 * `nodejs_*`). All servers share them: prom-client starts observers that cannot be stopped, so it must do so only once.
 */
function processMetrics(): Registry {
  if (sharedRegistry === undefined) {
    sharedRegistry = new Registry();
    collectDefaultMetrics({ register: sharedRegistry });
  }
  return sharedRegistry;
}
