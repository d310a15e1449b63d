import { WavetrainError } from '../common/errors.js';
import type { PlanResult, RunResult } from '../execution/results.js';
import type { AcceptedRun } from '../runs/record.js';
import { formatQuery, getRequest, namedPath, postRequest, runRequest } from './http-request.js';
import type {
  DefinitionText,
  NamedOptions,
  FolderPipeline,
  FolderPipelineDetails,
  FolderPipelinePage,
  NamedRunOptions,
  PipelineListQuery,
  RunRequest,
  SavedPipeline,
} from './requests.js';
import type { Transport } from './transport.js';

/**
 * The pipelines and plans in the folder of a server (D69), by their ids. Every method rejects as those of the client do, and
 * with the code `pipeline_not_found` for an id that the server does not have, or does not show to the caller.
 */
export class PipelinesClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns one page, by tenant and id, with the next times of schedules and the last runs. `enabled` is false without a folder. */
  list({ signal, ...query }: PipelineListQuery = {}): Promise<FolderPipelinePage> {
    return this.#transport.json(getRequest(`/pipelines${formatQuery(query)}`, { signal }));
  }

  /** Iterates over all of them. Fetches pages on demand. */
  async *all(query: PipelineListQuery = {}): AsyncGenerator<FolderPipeline, void, undefined> {
    let { cursor } = query;
    for (;;) {
      const page = await this.list({ ...query, cursor });
      yield* page.pipelines;
      if (page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }

  /** Returns one of them, with its graph. */
  async get(id: string, { signal, ...query }: NamedOptions = {}): Promise<FolderPipelineDetails> {
    return this.#transport.json(getRequest(namedPath(id) + formatQuery(query), { signal }));
  }

  /** Returns the text of its file, as it is on the disk. */
  async file(id: string, { signal, ...query }: NamedOptions = {}): Promise<DefinitionText> {
    return this.#transport.json(getRequest(`${namedPath(id)}/file${formatQuery(query)}`, { signal }));
  }

  /**
   * Runs a pipeline, and waits for the result as `run` of the client does. Retried only with an idempotency key.
   *
   * Rejects with a FailedRunError (`task_failed`) that has every failure, and with `invalid_request` when the id is that of a plan,
   * which has run then.
   *
   * @param params the others have their defaults
   */
  async run(id: string, params?: RunRequest['params'], options: NamedRunOptions = {}): Promise<RunResult> {
    const result: RunResult | PlanResult = await this.#start(`${namedPath(id)}/run`, params, options);
    if ('outputs' in result) return result;
    throw new WavetrainError('invalid_request', `"${id}" is a plan: pipelines.runPlan returns its result`);
  }

  /** Runs a plan, and waits for its result, like {@link run}. */
  async runPlan(id: string, options: NamedRunOptions = {}): Promise<PlanResult> {
    const result: RunResult | PlanResult = await this.#start(`${namedPath(id)}/run`, undefined, options);
    if (!('outputs' in result)) return result;
    throw new WavetrainError('invalid_request', `"${id}" is a pipeline: pipelines.run returns its result`);
  }

  /** Starts a run of a pipeline or a plan, as `submit` of the client does. @param params of a pipeline, as of {@link run} */
  async submit(
    id: string,
    params?: RunRequest['params'],
    options: NamedRunOptions = {},
  ): Promise<AcceptedRun> {
    return this.#start(`${namedPath(id)}/run_async`, params, options);
  }

  /** Writes into its file that its schedule rests. Where `pausable` of the list is false, the server refuses it. */
  async pause(id: string, options: NamedOptions = {}): Promise<SavedPipeline> {
    return this.#setPaused(id, 'pause', options);
  }

  /** Lets its schedule go on. */
  async resume(id: string, options: NamedOptions = {}): Promise<SavedPipeline> {
    return this.#setPaused(id, 'resume', options);
  }

  #start<R>(
    path: string,
    params: RunRequest['params'],
    { idempotencyKey, signal, ...values }: NamedRunOptions,
  ): Promise<R> {
    return this.#transport.json(runRequest(path, { ...values, params }, { idempotencyKey, signal }));
  }

  #setPaused(
    id: string,
    verb: 'pause' | 'resume',
    { signal, ...body }: NamedOptions,
  ): Promise<SavedPipeline> {
    return this.#transport.json(postRequest(`${namedPath(id)}/${verb}`, body, { signal }));
  }
}
