import type { AuditPage } from '../audit/audit-entry.js';
import { completeClock, delay, type HostClock } from '../common/clock.js';
import type { EventList } from '../execution/events/event.js';
import type { PlanResult, RunResult } from '../execution/results.js';
import type { CompileResult } from '../compile/result.js';
import type { Graph } from '../pipelines/drawing/graph.js';
import type { ValidationReport } from '../pipelines/report.js';
import type { DefinitionGraph } from '../plans/graph.js';
import type { PlanReport } from '../plans/report.js';
import type { InspectionList } from '../runs/inspection/entry.js';
import type { RunSummary } from '../common/wire/run-summary.js';
import type { AcceptedRun, RunRecord } from '../runs/record.js';
import type { StatisticsPage } from '../runs/store/statistics/statistics-request.js';
import type { RunPage } from '../runs/views/run-listing.js';
import type { AcceptedRerun, RerunReport } from '../runs/rerun/rerun-report.js';
import type { ArtifactPage } from '../runs/tasks/run-files.js';
import type { ItemPage, ItemRecord, TaskPage, TaskRecord } from '../runs/tasks/task-record.js';
import type { BlackboardView, EditableDefinition } from '../runs/views/submission-view.js';
import type { RemovedRuns } from '../runs/remove-page.js';
import { parseJsonBody } from './errors.js';
import { PipelinesClient } from './pipelines.js';
import { EventFeed, type EventOptions, MAX_FAILURES, type StreamedEvent } from './event-feed.js';
import { requestCompilation } from './event-stream.js';
import {
  artifactPath,
  authorizationHeaders,
  definitionBody,
  formatQuery,
  getRequest,
  parseBaseUrl,
  postRequest,
  runPath,
  runRequest,
  taskPath,
} from './http-request.js';
import type {
  ActorSnapshot,
  ArtifactListQuery,
  AsyncPlanRunRequest,
  AsyncRunRequest,
  AuditListQuery,
  BlackboardRequest,
  CancelOptions,
  ChangeOptions,
  CompileRequestOptions,
  DefinitionOrText,
  InspectionQuery,
  ListQuery,
  EventListQuery,
  PlanRunRequest,
  RecordOptions,
  RemoveQuery,
  RequestOptions,
  RerunOptions,
  RerunPreviewOptions,
  RunRequest,
  StatsQuery,
  SubmitOptions,
  TaskListQuery,
  TaskRequestOptions,
  ToolList,
  ValidateOptions,
  ValidatePlanOptions,
  VersionedRecord,
} from './requests.js';
import { retryDelay, Transport } from './transport.js';

export interface ClientOptions {
  /** Default `http://127.0.0.1:8000`. */
  readonly url?: string | undefined;
  /** API key, for servers that require one (D37). */
  readonly key?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly clock?: HostClock | undefined;
  /** Maximum number of retries of a request that changes nothing or has an idempotency key. Default 3. */
  readonly retries?: number | undefined;
}

/** Seconds that one request waits for a run to settle. */
const WAIT_SECONDS = 30;

const ANY_TYPE = { accept: '*/*' };
/** Minimum delay between two requests that wait, for servers that respond at once. */
const MIN_POLL_DELAY_MS = 250;

/**
 * Controls a Wavetrain server over HTTP.
 *
 * Every method rejects with a RequestError when the server rejects the request, with the code `server_unreachable` when
 * no server responds, and with the reason of the signal once it is aborted.
 */
export class WavetrainClient {
  /** The pipelines and plans in the folder of the server. */
  readonly pipelines: PipelinesClient;
  readonly #transport: Transport;

  /** @throws WavetrainError `bad_usage` for an invalid URL or key */
  constructor({ url = 'http://127.0.0.1:8000', key, clock, retries = 3, ...options }: ClientOptions = {}) {
    this.#transport = new Transport({
      baseUrl: parseBaseUrl(url),
      headers: { accept: 'application/json', ...authorizationHeaders(key) },
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      clock: completeClock(clock),
      retries,
    });
    this.pipelines = new PipelinesClient(this.#transport);
  }

  /** Checks that the server is alive. */
  health(options: RequestOptions = {}): Promise<{ readonly status: 'ok' }> {
    return this.#get('/health', options);
  }

  /** Returns the tools that tasks may call. */
  tools(options: RequestOptions = {}): Promise<ToolList> {
    return this.#get('/pipelines/tools', options);
  }

  /** Validates a pipeline. Resolves with `ok: false` if it has errors. */
  validate(pipeline: DefinitionOrText, options: ValidateOptions = {}): Promise<ValidationReport> {
    return this.#post('/pipelines/validate', definitionBody('pipeline', pipeline, options), options);
  }

  /**
   * Has a language model of the server write a pipeline or a plan from a description in plain words. Runs nothing.
   *
   * Rejects with the code `compile_failed` when the model wrote no valid one; `detail` then has every answer. Takes as long
   * as the model needs; aborting the signal ends it on the server, too.
   */
  compile(prompt: string, options: CompileRequestOptions = {}): Promise<CompileResult> {
    return requestCompilation(this.#transport, prompt, options);
  }

  /** Returns the waves of a pipeline, as data or as a diagram. */
  graph(pipeline: DefinitionOrText, options?: ValidateOptions): Promise<Graph>;
  graph(
    pipeline: DefinitionOrText,
    options: ValidateOptions & { readonly format: 'mermaid' | 'dot' | 'svg' },
  ): Promise<string>;
  async graph(
    pipeline: DefinitionOrText,
    options: ValidateOptions & { readonly format?: 'mermaid' | 'dot' | 'svg' } = {},
  ): Promise<Graph | string> {
    const { format } = options;
    const path = `/pipelines/graph${formatQuery({ format })}`;
    const body = definitionBody('pipeline', pipeline, options);
    if (format === undefined) return this.#post<Graph>(path, body, options);
    return (await this.#transport.send({ ...postRequest(path, body, options), headers: ANY_TYPE })).text;
  }

  /**
   * Runs a pipeline and waits for its result. Retried only with an idempotency key. The `fetch` of Node.js waits at most
   * five minutes: submit longer runs and wait for them with {@link settled}.
   *
   * Rejects with a FailedRunError (`task_failed`) that has every failure.
   *
   * @param request text is a definition in YAML or JSON
   */
  run(request: string | RunRequest, options: SubmitOptions = {}): Promise<RunResult> {
    return this.#transport.json(runRequest('/pipelines/run', request, options));
  }

  /** Starts a run. Retried only with an idempotency key. @param request text is a definition in YAML or JSON */
  submit(request: string | AsyncRunRequest, options: SubmitOptions = {}): Promise<AcceptedRun> {
    return this.#transport.json(runRequest('/pipelines/run_async', request, options));
  }

  /** Validates a plan. A sub-pipeline without its pipeline is checked by what the plan declares about it. */
  validatePlan(plan: DefinitionOrText, options: ValidatePlanOptions = {}): Promise<PlanReport> {
    return this.#post('/plans/validate', definitionBody('plan', plan, options), options);
  }

  /**
   * Runs a plan and waits for its result, like {@link run}.
   *
   * Rejects with a FailedRunError (`task_failed`) that names the sub-pipeline of the failed task.
   */
  runPlan(request: string | PlanRunRequest, options: SubmitOptions = {}): Promise<PlanResult> {
    return this.#transport.json(runRequest('/plans/run', request, options));
  }

  /** Starts the run of a plan, like {@link submit}. */
  submitPlan(request: string | AsyncPlanRunRequest, options: SubmitOptions = {}): Promise<AcceptedRun> {
    return this.#transport.json(runRequest('/plans/run_async', request, options));
  }

  /** Returns the current record of a run; with `wait`, as soon as the run has settled. */
  async record(runId: string, { wait, ...options }: RecordOptions = {}): Promise<RunRecord> {
    return this.#get(runPath(runId) + formatQuery({ wait }), options);
  }

  /** Returns the record of a run if it differs from version `etag`; with `wait`, as soon as it does. */
  async changed(runId: string, { etag, wait, ...options }: ChangeOptions = {}): Promise<VersionedRecord> {
    const path = runPath(runId) + formatQuery({ wait });
    const headers = etag === undefined ? {} : { 'if-none-match': etag };
    const response = await this.#transport.send({ ...getRequest(path, options), headers });
    const record =
      response.status === 304 ? null : (parseJsonBody(response, this.#transport.baseUrl) as RunRecord);
    return { record, etag: response.headers.get('etag') ?? '' };
  }

  /** Resolves with the record of a run once it has settled, however long that takes and whatever its status is. */
  async settled(runId: string, options: RequestOptions = {}): Promise<RunRecord> {
    const { clock } = this.#transport;
    let failures = 0;
    for (;;) {
      let delayMs: number | undefined = MIN_POLL_DELAY_MS;
      try {
        const record = await this.record(runId, { ...options, wait: WAIT_SECONDS });
        if (record.settled) return record;
        failures = 0;
      } catch (error) {
        // A server that was there may be started again meanwhile.
        const isLast = !this.#transport.wasReached || failures === MAX_FAILURES;
        delayMs = isLast ? undefined : retryDelay(error, failures++);
        if (delayMs === undefined) throw error;
      }
      await delay(delayMs, { clock, signal: options.signal });
    }
  }

  /** Returns one page of the runs that the server keeps, newest first. */
  list({ signal, ...query }: ListQuery = {}): Promise<RunPage> {
    return this.#get(`/pipelines/runs${formatQuery(query)}`, { signal });
  }

  /** Iterates over all runs that the server keeps, newest first. Fetches pages on demand. */
  async *runs(query: ListQuery = {}): AsyncGenerator<RunSummary, void, undefined> {
    let { cursor } = query;
    for (;;) {
      const page = await this.list({ ...query, cursor });
      yield* page.runs;
      if (page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }

  /** Counts the runs of each pipeline that have finished, with their durations and costs: one page, by hour, day or in all. */
  stats({ signal, ...query }: StatsQuery = {}): Promise<StatisticsPage> {
    return this.#get(`/pipelines/stats${formatQuery(query)}`, { signal });
  }

  /** Returns one page of who did what on the server, the newest first. Needs a key with the scope `admin`. */
  audit({ signal, ...query }: AuditListQuery = {}): Promise<AuditPage> {
    return this.#get(`/admin/audit${formatQuery(query)}`, { signal });
  }

  /** Returns the waves and dependencies of a run; of a plan, of its sub-pipelines and the tasks of each. */
  async runGraph(runId: string, options: RequestOptions = {}): Promise<DefinitionGraph> {
    return this.#get(`${runPath(runId)}/graph`, options);
  }

  /**
   * Returns what a run was submitted with, as data and, unless that would be longer than 1 MiB, as text: change it, and run
   * it again with {@link rerun}.
   */
  async definition(runId: string, options: RequestOptions = {}): Promise<EditableDefinition> {
    return this.#get(`${runPath(runId)}/definition`, options);
  }

  /** Returns the session values with which a run began, and those that it has now (D59). */
  async blackboard(runId: string, { signal, ...query }: BlackboardRequest = {}): Promise<BlackboardView> {
    return this.#get(`${runPath(runId)}/blackboard${formatQuery(query)}`, { signal });
  }

  /**
   * Returns one page of the tasks of a run, with their inputs, outputs, attempts and errors (D59). In a run of a plan,
   * `sub_pipeline` selects the tasks of one sub-pipeline.
   */
  async tasks(runId: string, { signal, ...query }: TaskListQuery = {}): Promise<TaskPage> {
    return this.#get(`${runPath(runId)}/tasks${formatQuery(query)}`, { signal });
  }

  /** Returns one task of a run. */
  async task(runId: string, id: string, { signal, ...query }: TaskRequestOptions = {}): Promise<TaskRecord> {
    return this.#get(taskPath(runId, id) + formatQuery(query), { signal });
  }

  /** Returns one page of the items of a fan-out. */
  async items(runId: string, taskId: string, { signal, ...query }: TaskListQuery = {}): Promise<ItemPage> {
    return this.#get(`${taskPath(runId, taskId)}/items${formatQuery(query)}`, { signal });
  }

  /** Returns one item of a fan-out. */
  async item(
    runId: string,
    taskId: string,
    item: number,
    { signal, ...query }: TaskRequestOptions = {},
  ): Promise<ItemRecord> {
    return this.#get(`${taskPath(runId, taskId)}/items/${item}${formatQuery(query)}`, { signal });
  }

  /** Returns one page of the files of a run, by name (D63). */
  async artifacts(runId: string, { signal, ...query }: ArtifactListQuery = {}): Promise<ArtifactPage> {
    return this.#get(`${runPath(runId)}/artifacts${formatQuery(query)}`, { signal });
  }

  /** Downloads a file of a run: the response has its media type, and its content as bytes, as text or as a stream. */
  async artifact(runId: string, name: string, options: RequestOptions = {}): Promise<Response> {
    return this.#transport.open(getRequest(artifactPath(runId, name), options));
  }

  /**
   * Returns what the actors of a run have done so far, from entry `after` on. The server records a run while somebody asks
   * for it; of one that settled unwatched it infers the entries from its events.
   */
  async inspection(runId: string, { signal, ...query }: InspectionQuery = {}): Promise<InspectionList> {
    return this.#get(`${runPath(runId)}/inspection${formatQuery(query)}`, { signal });
  }

  /** Downloads a recording of a run, for `wavetrain inspect`: JSON lines, as text or as a stream. */
  async recording(runId: string, options: RequestOptions = {}): Promise<Response> {
    return this.#transport.open({ ...getRequest(`${runPath(runId)}/recording`, options), headers: ANY_TYPE });
  }

  /** Downloads a report of a run: one HTML document, as text or as a stream. */
  async report(runId: string, options: RequestOptions = {}): Promise<Response> {
    return this.#transport.open({ ...getRequest(`${runPath(runId)}/report`, options), headers: ANY_TYPE });
  }

  /** Returns the events of a run so far, from event `after` on; without waiting for others, unlike {@link events}. */
  async pastEvents(runId: string, { signal, ...query }: EventListQuery = {}): Promise<EventList> {
    return this.#get(`${runPath(runId)}/events${formatQuery(query)}`, { signal });
  }

  /** Cancels a run. The current wave finishes first, unless `force` stops its tools. */
  async cancel(runId: string, { force, ...options }: CancelOptions = {}): Promise<RunRecord> {
    return this.#post(`${runPath(runId)}/cancel`, { force }, options);
  }

  /** Lets a paused run go on to its next breakpoint. Rejects with `run_not_paused`. */
  async continue(runId: string, options: RequestOptions = {}): Promise<RunRecord> {
    return this.#post(`${runPath(runId)}/continue`, {}, options);
  }

  /** Lets a paused run execute one wave, and pause again. Rejects with `run_not_paused`. */
  async step(runId: string, options: RequestOptions = {}): Promise<RunRecord> {
    return this.#post(`${runPath(runId)}/step`, {}, options);
  }

  /**
   * Starts a new run that repeats a settled one, with the changes in the options. Retried only with an idempotency key.
   *
   * Rejects with the code `invalid_definition` when a changed definition has errors; nothing runs then.
   */
  async rerun(
    runId: string,
    { idempotencyKey, signal, ...request }: RerunOptions = {},
  ): Promise<AcceptedRerun> {
    return this.#transport.json(runRequest(`${runPath(runId)}/rerun`, request, { idempotencyKey, signal }));
  }

  /** Says what {@link rerun} would reuse and what it would run. Runs nothing, and rejects as that does. */
  async previewRerun(runId: string, { signal, ...request }: RerunPreviewOptions = {}): Promise<RerunReport> {
    return this.#transport.json(runRequest(`${runPath(runId)}/rerun/preview`, request, { signal }));
  }

  /** Deletes a settled run. */
  async remove(runId: string, options: RequestOptions = {}): Promise<void> {
    await this.#transport.send({ method: 'DELETE', path: runPath(runId), ...options });
  }

  /**
   * Deletes settled runs, and yields after each request how many it has deleted of 500 at most. Stop asking to end it.
   */
  async *removeAll({ signal, ...query }: RemoveQuery): AsyncGenerator<number, void, undefined> {
    for (let cursor: string | undefined; ; ) {
      const path = `/pipelines/runs${formatQuery({ ...query, cursor })}`;
      // Repeated after a response that was lost, it deletes no others.
      const request = { method: 'DELETE', path, signal, isRepeatable: true } as const;
      const { deleted, next_cursor: next } = await this.#transport.json<RemovedRuns>(request);
      yield deleted;
      if (next === null) return;
      cursor = next;
    }
  }

  /** Returns the persisted XState snapshot of a run and its actors. */
  async snapshot(runId: string, options: RequestOptions = {}): Promise<ActorSnapshot> {
    return this.#get(`${runPath(runId)}/snapshot`, options);
  }

  /**
   * Iterates over the events of a run until it has settled: each once and in order, reconnecting when a connection
   * breaks. If the server has dropped events, one of the kind `gap` says which. Leaving the loop ends the request.
   */
  events(runId: string, options: EventOptions = {}): AsyncGenerator<StreamedEvent, void, undefined> {
    return new EventFeed(this.#transport, runId, options).read();
  }

  #get<T>(path: string, options: RequestOptions): Promise<T> {
    return this.#transport.json<T>(getRequest(path, options));
  }

  #post<T>(path: string, body: object, options: RequestOptions): Promise<T> {
    return this.#transport.json<T>(postRequest(path, body, options));
  }
}
