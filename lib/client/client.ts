import { type Clock, systemClock } from '../common/clock.js';
import type { PlanResult, RunResult } from '../execution/results.js';
import type { Graph } from '../pipelines/graph.js';
import type { ValidationReport } from '../pipelines/report.js';
import type { PlanReport } from '../plans/load.js';
import type { RunPage } from '../runs/listing.js';
import type { Acceptance, RunRecord, RunSummary } from '../runs/record.js';
import { baseOf, keyHeaders, pathOfRun, queryOf } from './address.js';
import { asking, definitionBody, planBody, reading, starting, submitting } from './calls.js';
import { jsonOf } from './errors.js';
import { EventFeed, type EventOptions, type RunEvent } from './event-feed.js';
import type {
  AsyncPlanRunRequest,
  AsyncRunRequest,
  CancelOptions,
  ChangeOptions,
  CheckOptions,
  GivenDefinition,
  ListQuery,
  PlanCheckOptions,
  PlanRunRequest,
  RecordOptions,
  RequestOptions,
  RerunOptions,
  RunRequest,
  Submission,
  SubmitOptions,
  ToolList,
  VersionedRecord,
} from './requests.js';
import { pause } from './retry.js';
import { Transport } from './transport.js';

export interface ClientOptions {
  /** Default `http://127.0.0.1:8000`. */
  readonly url?: string | undefined;
  /** What the server asks callers for, when it does (D37). */
  readonly key?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly clock?: Clock | undefined;
  /** Further attempts of a request that changes nothing, or has an idempotency key. Default 3. */
  readonly retries?: number | undefined;
}

/** @throws WavetrainError `bad_usage` for an address or a key that cannot be one */
function transportOf(options: ClientOptions): Transport {
  const { url = 'http://127.0.0.1:8000', key, clock = systemClock, retries = 3 } = options;
  return new Transport({
    base: baseOf(url),
    headers: { accept: 'application/json', ...keyHeaders(key) },
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    clock,
    retries,
  });
}

/** Seconds that one request waits for a run to settle. */
const WAIT = 30;
/** Between two of those requests, should a server answer at once. */
const LEAST_PAUSE_MS = 250;

/**
 * Drives a Wavetrain server over HTTP.
 *
 * Every method rejects with a RequestError when the server refuses, with the code `server_unreachable` when none
 * answers, and with the reason of the signal once that is given.
 */
export class WavetrainClient {
  readonly #transport: Transport;

  /** @throws WavetrainError `bad_usage` for an address or a key that cannot be one */
  constructor(options: ClientOptions = {}) {
    this.#transport = transportOf(options);
  }

  /** Is the server alive? */
  health(options: RequestOptions = {}): Promise<{ readonly status: 'ok' }> {
    return this.#get('/health', options);
  }

  /** The tools that tasks may call. */
  tools(options: RequestOptions = {}): Promise<ToolList> {
    return this.#get('/pipelines/tools', options);
  }

  /** Checks a definition; one with errors is answered too, with `ok: false`. */
  validate(definition: GivenDefinition, options: CheckOptions = {}): Promise<ValidationReport> {
    return this.#post('/pipelines/validate', definitionBody(definition, options), options);
  }

  /** The waves of a definition, as data or drawn. */
  graph(definition: GivenDefinition, options?: CheckOptions): Promise<Graph>;
  graph(
    definition: GivenDefinition,
    options: CheckOptions & { readonly format: 'mermaid' | 'dot' },
  ): Promise<string>;
  async graph(
    definition: GivenDefinition,
    options: CheckOptions & { readonly format?: 'mermaid' | 'dot' } = {},
  ): Promise<Graph | string> {
    const { format } = options;
    const path = `/pipelines/graph${queryOf({ format })}`;
    const body = definitionBody(definition, options);
    if (format === undefined) return this.#post<Graph>(path, body, options);
    const answer = await this.#transport.send({ ...asking(path, body, options), headers: { accept: '*/*' } });
    return answer.text;
  }

  /**
   * Runs a pipeline and waits for its result: never sent twice. Node's own fetch waits five minutes; a run that may
   * take longer is submitted, and waited for with {@link settled}.
   *
   * @throws FailedRunError `task_failed`, with every failure
   */
  run(request: Submission<RunRequest>, options: RequestOptions = {}): Promise<RunResult> {
    return this.#transport.json(starting('/pipelines/run', request, options));
  }

  /** Starts a run. Sent again after a broken connection only with an idempotency key. */
  submit(request: Submission<AsyncRunRequest>, options: SubmitOptions = {}): Promise<Acceptance> {
    return this.#transport.json(submitting('/pipelines/run_async', request, options));
  }

  /** Checks a plan; a sub-pipeline whose pipeline is not given is checked by what the plan says of it. */
  validatePlan(plan: GivenDefinition, options: PlanCheckOptions = {}): Promise<PlanReport> {
    return this.#post('/plans/validate', planBody(plan, options), options);
  }

  /**
   * Runs a plan and waits for its result, as {@link run} does for a pipeline.
   *
   * @throws FailedRunError `task_failed`, with the sub-pipeline whose task it was
   */
  runPlan(request: Submission<PlanRunRequest>, options: RequestOptions = {}): Promise<PlanResult> {
    return this.#transport.json(starting('/plans/run', request, options));
  }

  /** Starts a run of a plan, which is a run like any other. Sent again as {@link submit} is. */
  submitPlan(request: Submission<AsyncPlanRunRequest>, options: SubmitOptions = {}): Promise<Acceptance> {
    return this.#transport.json(submitting('/plans/run_async', request, options));
  }

  /** A run as it is now, or once it has settled when it is told to wait. */
  async record(runId: string, { wait, ...options }: RecordOptions = {}): Promise<RunRecord> {
    return this.#get(pathOfRun(runId) + queryOf({ wait }), options);
  }

  /** A run as it is now, unless it is as it was when `etag` was given; with `wait` once something has changed. */
  async changed(runId: string, { etag, wait, ...options }: ChangeOptions = {}): Promise<VersionedRecord> {
    const path = pathOfRun(runId) + queryOf({ wait });
    const headers = etag === undefined ? {} : { 'if-none-match': etag };
    const answer = await this.#transport.send({ ...reading(path, options), headers });
    const record = answer.status === 304 ? null : (jsonOf(answer, this.#transport.base) as RunRecord);
    return { record, etag: answer.headers.get('etag') ?? '' };
  }

  /** The record of a run once it has settled, however long that takes and however it ended. */
  async settled(runId: string, options: RequestOptions = {}): Promise<RunRecord> {
    for (;;) {
      const record = await this.record(runId, { ...options, wait: WAIT });
      if (record.settled) return record;
      await pause(LEAST_PAUSE_MS, this.#transport.clock, options.signal);
    }
  }

  /** One page of the runs that are kept, the newest first. */
  list({ signal, ...query }: ListQuery = {}): Promise<RunPage> {
    return this.#get(`/pipelines/runs${queryOf(query)}`, { ...(signal && { signal }) });
  }

  /** All runs that are kept, the newest first; the pages are fetched as they are needed. */
  async *runs(query: ListQuery = {}): AsyncGenerator<RunSummary, void, undefined> {
    let { cursor } = query;
    for (;;) {
      const page = await this.list({ ...query, cursor });
      yield* page.runs;
      if (page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }

  /** Cancels a run. The wave at work finishes first, unless `force` tells its tools to stop. */
  async cancel(runId: string, { force, ...options }: CancelOptions = {}): Promise<RunRecord> {
    return this.#post(`${pathOfRun(runId)}/cancel`, force === undefined ? {} : { force }, options);
  }

  /** Runs a settled run once more, as a new one. */
  async rerun(runId: string, { from, ...options }: RerunOptions = {}): Promise<Acceptance> {
    return this.#post(`${pathOfRun(runId)}/rerun`, from === undefined ? {} : { from }, options);
  }

  /** Forgets a settled run. */
  async remove(runId: string, options: RequestOptions = {}): Promise<void> {
    await this.#transport.send({ method: 'DELETE', path: pathOfRun(runId), ...options });
  }

  /** The tree of actors behind a run, as XState makes it. */
  async snapshot(runId: string, options: RequestOptions = {}): Promise<Record<string, unknown>> {
    return this.#get(`${pathOfRun(runId)}/snapshot`, options);
  }

  /**
   * The events of a run as they happen, until it has settled: each once and in order, though connections break. Events
   * that the server keeps no longer are told as one of the kind `gap`. To leave the loop ends the request.
   */
  events(runId: string, options: EventOptions = {}): AsyncGenerator<RunEvent, void, undefined> {
    return new EventFeed(this.#transport, runId, options).events();
  }

  #get<T>(path: string, options: RequestOptions): Promise<T> {
    return this.#transport.json<T>(reading(path, options));
  }

  #post<T>(path: string, body: object, options: RequestOptions): Promise<T> {
    return this.#transport.json<T>(asking(path, body, options));
  }
}
