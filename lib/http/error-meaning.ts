import type { ErrorCode } from '../common/errors.js';

/** Codes of the command line and the client, which no server answers with. */
type ElsewhereCode = 'unreadable_file' | 'bad_usage' | 'bad_tool_file' | 'server_unreachable';

/** The codes that a server answers with. */
export type HttpErrorCode = Exclude<ErrorCode, ElsewhereCode>;

/** What each code means to a caller, as the documents tell it (D32). */
export const MEANING_OF_CODE: Readonly<Record<HttpErrorCode, string>> = {
  invalid_request: 'The request is not as documented: broken JSON, a field or parameter too many or too few.',
  invalid_definition: 'The pipeline or the plan has errors: `problems` tells each with its place.',
  invalid_params: 'A param is missing, unknown, or of another type.',
  invalid_options: 'An option is unknown or out of its range.',
  invalid_inputs: '`inputs` or `session` hold what a run cannot keep.',
  run_already_terminal: 'The run has succeeded, failed or been cancelled: there is nothing to cancel.',
  nothing_to_rerun: 'The run succeeded, so there is no failed task to rerun it from.',
  unauthorized: 'A key is missing or unknown.',
  forbidden: 'The key has not the scope, or not the tenant, that this needs.',
  foreign_host: 'The Host header names another server. See `SERVICE_ALLOWED_HOSTS`.',
  foreign_origin: 'A page of another origin may not do this.',
  not_found: 'There is no such path.',
  run_not_found:
    'There is no such run: it never was, it was forgotten, or it is of a tenant that is not yours.',
  method_not_allowed: 'The path takes other methods: the header `Allow` lists them.',
  not_acceptable: 'This is not answered in any media type of the header `Accept`.',
  request_timeout: 'The request did not arrive whole in time.',
  run_not_settled: 'The run is still at work: wait for it, or cancel it.',
  run_cancelled: 'The run was cancelled while its result was waited for.',
  idempotency_conflict: 'The idempotency key was used with another body.',
  body_too_large: 'The body is larger than the server takes (1 MiB unless configured).',
  unsupported_media_type: 'The body is in a media type that is not taken here, or compressed.',
  too_many_streams: 'Too many event streams are open. Ask again after `Retry-After` seconds.',
  header_too_large: 'The headers are larger than the server takes.',
  task_failed:
    'A task of the run failed: `task_id`, `error` and `failures` tell which and why; `sub_pipeline` too, when it was of a plan.',
  internal: 'A bug in the server. Its log tells more under the `id` that is given.',
  not_implemented: 'This server is not configured for it.',
  queue_full: 'Too many runs wait. Ask again after `Retry-After` seconds.',
  shutting_down: 'The server takes no more runs. Ask again after `Retry-After` seconds.',
};

/** The codes, in the order of the documents. */
export const HTTP_ERROR_CODES = Object.keys(MEANING_OF_CODE) as HttpErrorCode[];
