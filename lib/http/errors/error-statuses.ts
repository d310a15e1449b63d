import type { ErrorCode } from '../../common/errors.js';

/** Codes of the command line and the client, which no server responds with. */
type LocalErrorCode = 'unreadable_file' | 'bad_usage' | 'bad_tool_file' | 'server_unreachable';

/** The codes that a server responds with. */
export type HttpErrorCode = Exclude<ErrorCode, LocalErrorCode>;

interface ErrorStatus {
  readonly status: number;
  /** Seconds after which a retry may succeed: the Retry-After header. */
  readonly retryAfter: number | undefined;
  /** For the documents, in Markdown. */
  readonly meaning: string;
}

/** The codes whose requests may be repeated later, with the seconds to wait. */
const RETRY_AFTER: Partial<Record<HttpErrorCode, number>> = {
  too_many_streams: 5,
  too_many_failures: 60,
  provider_failed: 30,
  queue_full: 1,
  memory_full: 1,
  shutting_down: 5,
  not_ready: 1,
};

/** The only table from expected failures to HTTP statuses (law L6, D32), in the order of the documents. */
export const ERROR_STATUSES: Readonly<Record<HttpErrorCode, ErrorStatus>> = {
  ...withStatus(400, {
    invalid_request:
      'The request is not as documented: broken JSON, or an unknown or missing field or parameter.',
    invalid_definition: 'The pipeline or the plan has errors: `problems` lists each with its location.',
    invalid_params: 'A param is missing, unknown, or of another type.',
    invalid_options: 'An option is unknown or out of its range.',
    secret_missing:
      'A secret that the definition reads is not there for this tenant, or its value is no secret: the message names it.',
    provider_misconfigured:
      'A task needs a language model that is not configured on this server: the message says what its operator must set.',
    invalid_inputs: '`inputs` or `session` contain values that a run cannot store.',
    run_already_terminal: 'The run has succeeded, failed or been cancelled: there is nothing to cancel.',
    nothing_to_rerun: 'The run succeeded, so it has no failed task to rerun.',
  }),
  ...withStatus(401, { unauthorized: 'The API key is missing or unknown.' }),
  ...withStatus(403, {
    command_not_allowed:
      'A task starts a program that the operator of this server has not allowed: the message says which, and how.',
    forbidden: 'The key lacks the scope or the tenant that the request needs.',
    foreign_host: 'The Host header names another server. See `SERVICE_ALLOWED_HOSTS`.',
    foreign_origin: 'A page of another origin may not do this.',
  }),
  ...withStatus(404, {
    not_found: 'There is no such path.',
    run_not_found:
      'There is no such run: it never existed, it was deleted, or it belongs to a tenant that is not yours.',
    task_not_found: 'The run has no such task, the task no such item, or the plan no such sub-pipeline.',
    artifact_not_found: 'The run has no file of this name.',
    pipeline_not_found:
      'The folder of the server has no such pipeline or plan for this tenant, or none without errors; a webhook responds so to whatever it does not accept.',
  }),
  ...withStatus(405, {
    method_not_allowed:
      'The path does not accept this method: the header `Allow` lists those that it accepts.',
  }),
  ...withStatus(406, {
    not_acceptable: 'The response is not available in any media type of the header `Accept`.',
  }),
  ...withStatus(408, { request_timeout: 'The request did not arrive completely in time.' }),
  ...withStatus(409, {
    busy: 'As many runs of the definition are at work as its `max_running` allows, and its `on_busy` is `skip`: `run_id` is the one that came first.',
    run_not_paused: 'The run does not wait at a breakpoint.',
    run_not_settled: 'The run is still active: wait for it, or cancel it.',
    run_cancelled: 'The run was cancelled while the request waited for its result.',
    idempotency_conflict: 'The idempotency key was used with another body.',
    file_changed:
      'The file is not the version that the request names any more: `version` is the one that it has now. Or a file of that name is there already.',
  }),
  ...withStatus(410, {
    result_gone: 'The run of the idempotency key has ended, and its result is no longer kept.',
  }),
  ...withStatus(413, {
    body_too_large:
      'The body is larger than the server accepts (1 MiB unless configured), or its YAML is longer than 256 KiB.',
  }),
  ...withStatus(415, {
    unsupported_media_type: 'The body has a media type that is not accepted here, or is compressed.',
  }),
  ...withStatus(422, {
    compile_failed:
      'The model wrote no valid pipeline: `repair_history` has each answer with its errors, `last_error` the reason.',
  }),
  ...withStatus(429, {
    too_many_streams:
      'Too many event streams are open, or too many requests wait for runs; or another backup is being written. Try again after `Retry-After` seconds.',
    too_many_failures:
      'The requests of this address to webhooks that were not accepted have sent too much. Try again after `Retry-After` seconds.',
  }),
  ...withStatus(431, { header_too_large: 'The headers are larger than the server accepts.' }),
  ...withStatus(500, {
    task_failed:
      'A task of the run failed: `task_id`, `error` and `failures` describe it; `sub_pipeline` too, in a run of a plan.',
    run_timeout:
      'The run took longer than the `timeout` of its pipeline or plan; `failures` has the tasks that were stopped.',
    internal:
      'A bug in the server. Its log has the details under the same `id`. Or a backup that could not be written: the message says why.',
  }),
  ...withStatus(501, { not_implemented: 'The server is not configured for this request.' }),
  ...withStatus(502, {
    provider_failed:
      'The provider of the language model did not answer, or not as it should. Try again later.',
  }),
  ...withStatus(503, {
    queue_full:
      'Too many runs are queued, or there is no memory for another one; or the tenant saves as many files as it may at once. Try again after `Retry-After` seconds.',
    memory_full: 'There is no memory for the body or the response. Try again after `Retry-After` seconds.',
    shutting_down:
      'The server is shutting down: it accepts no more runs or definitions. Try again after `Retry-After` seconds.',
    not_ready:
      'The server is restoring its runs, or can keep none until it is started again: `GET /ready` has the reason. Try again after `Retry-After` seconds.',
  }),
};

function withStatus<C extends HttpErrorCode>(
  status: number,
  meanings: Readonly<Record<C, string>>,
): Record<C, ErrorStatus> {
  const codes = Object.keys(meanings) as C[];
  const entries = codes.map((code) => [
    code,
    { status, retryAfter: RETRY_AFTER[code], meaning: meanings[code] },
  ]);
  return Object.fromEntries(entries) as Record<C, ErrorStatus>;
}

const STATUSES: Partial<Record<ErrorCode, ErrorStatus>> = ERROR_STATUSES;

/** Returns the HTTP status of any code; 500 for those that belong to the command line and the client. */
export function errorStatus(code: ErrorCode): Pick<ErrorStatus, 'status' | 'retryAfter'> {
  return STATUSES[code] ?? { status: 500, retryAfter: undefined };
}
