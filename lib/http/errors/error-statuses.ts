import type { ErrorCode } from '../../common/errors.js';

/** Codes of the command line and the client, which no server responds with. */
type LocalErrorCode = 'unreadable_file' | 'bad_usage' | 'bad_tool_file' | 'server_unreachable';

/** The codes that a server responds with. */
export type HttpErrorCode = Exclude<ErrorCode, LocalErrorCode>;

interface ErrorStatus {
  readonly status: number;
  /** Seconds after which a retry may succeed: the Retry-After header. */
  readonly retryAfter?: number;
  /** For the documents, in Markdown. */
  readonly meaning: string;
}

/** The only table from expected failures to HTTP statuses (law L6, D32), in the order of the documents. */
export const ERROR_STATUSES: Readonly<Record<HttpErrorCode, ErrorStatus>> = {
  invalid_request: {
    status: 400,
    meaning: 'The request is not as documented: broken JSON, or an unknown or missing field or parameter.',
  },
  invalid_definition: {
    status: 400,
    meaning: 'The pipeline or the plan has errors: `problems` lists each with its location.',
  },
  invalid_params: { status: 400, meaning: 'A param is missing, unknown, or of another type.' },
  invalid_options: { status: 400, meaning: 'An option is unknown or out of its range.' },
  secret_missing: {
    status: 400,
    meaning:
      'A secret that the definition reads is not there for this tenant, or its value is no secret: the message names it.',
  },
  provider_misconfigured: {
    status: 400,
    meaning:
      'A task needs a language model that is not configured on this server: the message says what its operator must set.',
  },
  invalid_inputs: { status: 400, meaning: '`inputs` or `session` contain values that a run cannot store.' },
  run_already_terminal: {
    status: 400,
    meaning: 'The run has succeeded, failed or been cancelled: there is nothing to cancel.',
  },
  nothing_to_rerun: {
    status: 400,
    meaning: 'The run succeeded, so it has no failed task to rerun.',
  },
  unauthorized: { status: 401, meaning: 'The API key is missing or unknown.' },
  forbidden: { status: 403, meaning: 'The key lacks the scope or the tenant that the request needs.' },
  foreign_host: {
    status: 403,
    meaning: 'The Host header names another server. See `SERVICE_ALLOWED_HOSTS`.',
  },
  foreign_origin: { status: 403, meaning: 'A page of another origin may not do this.' },
  not_found: { status: 404, meaning: 'There is no such path.' },
  run_not_found: {
    status: 404,
    meaning:
      'There is no such run: it never existed, it was deleted, or it belongs to a tenant that is not yours.',
  },
  task_not_found: {
    status: 404,
    meaning: 'The run has no such task, the task no such item, or the plan no such sub-pipeline.',
  },
  artifact_not_found: { status: 404, meaning: 'The run has no file of this name.' },
  pipeline_not_found: {
    status: 404,
    meaning:
      'The folder of the server has no such pipeline or plan for this tenant, or none without errors; a webhook responds so to whatever it does not accept.',
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The path does not accept this method: the header `Allow` lists those that it accepts.',
  },
  not_acceptable: {
    status: 406,
    meaning: 'The response is not available in any media type of the header `Accept`.',
  },
  request_timeout: { status: 408, meaning: 'The request did not arrive completely in time.' },
  run_not_paused: { status: 409, meaning: 'The run does not wait at a breakpoint.' },
  run_not_settled: { status: 409, meaning: 'The run is still active: wait for it, or cancel it.' },
  run_cancelled: { status: 409, meaning: 'The run was cancelled while the request waited for its result.' },
  idempotency_conflict: { status: 409, meaning: 'The idempotency key was used with another body.' },
  file_changed: {
    status: 409,
    meaning:
      'The file is not the version that the request names any more: `version` is the one that it has now. Or a file of that name is there already.',
  },
  result_gone: {
    status: 410,
    meaning: 'The run of the idempotency key has ended, and its result is no longer kept.',
  },
  body_too_large: {
    status: 413,
    meaning:
      'The body is larger than the server accepts (1 MiB unless configured), or its YAML is longer than 256 KiB.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body has a media type that is not accepted here, or is compressed.',
  },
  compile_failed: {
    status: 422,
    meaning:
      'The model wrote no valid pipeline: `repair_history` has each answer with its errors, `last_error` the reason.',
  },
  too_many_streams: {
    status: 429,
    retryAfter: 5,
    meaning:
      'Too many event streams are open, or too many requests wait for runs. Try again after `Retry-After` seconds.',
  },
  too_many_failures: {
    status: 429,
    retryAfter: 60,
    meaning:
      'The requests of this address to webhooks that were not accepted have sent too much. Try again after `Retry-After` seconds.',
  },
  header_too_large: { status: 431, meaning: 'The headers are larger than the server accepts.' },
  task_failed: {
    status: 500,
    meaning:
      'A task of the run failed: `task_id`, `error` and `failures` describe it; `sub_pipeline` too, in a run of a plan.',
  },
  internal: {
    status: 500,
    meaning: 'A bug in the server. Its log has the details under the same `id`.',
  },
  not_implemented: { status: 501, meaning: 'The server is not configured for this request.' },
  provider_failed: {
    status: 502,
    retryAfter: 30,
    meaning: 'The provider of the language model did not answer, or not as it should. Try again later.',
  },
  queue_full: {
    status: 503,
    retryAfter: 1,
    meaning:
      'Too many runs are queued, or there is no memory for another one; or the tenant saves as many files as it may at once. Try again after `Retry-After` seconds.',
  },
  memory_full: {
    status: 503,
    retryAfter: 1,
    meaning: 'There is no memory for the body or the response. Try again after `Retry-After` seconds.',
  },
  shutting_down: {
    status: 503,
    retryAfter: 5,
    meaning:
      'The server is shutting down: it accepts no more runs or definitions. Try again after `Retry-After` seconds.',
  },
  not_ready: {
    status: 503,
    retryAfter: 1,
    meaning:
      'The server is restoring its runs, or can keep none until it is started again: `GET /ready` has the reason. Try again after `Retry-After` seconds.',
  },
};

const STATUSES: Partial<Record<ErrorCode, ErrorStatus>> = ERROR_STATUSES;

/** Returns the HTTP status of any code; 500 for those that belong to the command line and the client. */
export function errorStatus(code: ErrorCode): Pick<ErrorStatus, 'status' | 'retryAfter'> {
  return STATUSES[code] ?? { status: 500 };
}
