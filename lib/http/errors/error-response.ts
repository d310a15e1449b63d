import { type ErrorCode, messageOf, TaskFailedError, WavetrainError } from '../../common/errors.js';
import { isObject } from '../../common/json.js';
import { InvalidDefinitionError } from '../../pipelines/load.js';
import { errorsOf } from '../../pipelines/report.js';
import type { ErrorBody } from '../schemas/error.js';

/** An error as it is sent. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
}

type Detail = ErrorBody['detail'];

/**
 * What a caller is told about something that was thrown. Undefined for a bug: nothing of it leaves this process.
 */
export function errorAnswer(thrown: WavetrainError): ErrorAnswer;
export function errorAnswer(thrown: unknown): ErrorAnswer | undefined;
export function errorAnswer(thrown: unknown): ErrorAnswer | undefined {
  const error = expected(thrown);
  return error === undefined ? undefined : answerWith(detailOf(error));
}

/** What a caller is told about a bug: an id, which the log repeats (D32). */
export function bugAnswer(id: string): ErrorAnswer {
  return answerWith({
    code: 'internal',
    message: `an internal error: the server's log tells more under ${id}`,
    id,
  });
}

function answerWith(detail: Detail): ErrorAnswer {
  const retryAfter = RETRY_AFTER[detail.code];
  return {
    status: STATUS_OF_CODE[detail.code],
    headers: {
      ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
      ...(detail.code === 'unauthorized' && { 'WWW-Authenticate': 'Bearer' }),
    },
    body: { detail },
  };
}

function detailOf(error: WavetrainError): Detail {
  const { code, message } = error;
  if (error instanceof InvalidDefinitionError) {
    return { code, message, errors: errorsOf(error.problems), problems: [...error.problems] };
  }
  if (error instanceof TaskFailedError) {
    const { task_id, error: reason, failures, run_id } = error;
    const subPipeline = failures[0]?.sub_pipeline;
    const which = { ...(subPipeline !== undefined && { sub_pipeline: subPipeline }), task_id };
    return { code, message, ...which, error: reason, failures: [...failures], run_id };
  }
  return { code, message };
}

/** Errors with a code of ours, and those that Koa and its body parser throw, in our words. */
function expected(thrown: unknown): WavetrainError | undefined {
  if (thrown instanceof WavetrainError) return thrown;
  if (!isObject(thrown) || typeof thrown['status'] !== 'number') return undefined;
  const code = CODE_OF_STATUS[thrown['status']];
  return code === undefined ? undefined : new WavetrainError(code, messageOf(thrown), { cause: thrown });
}

const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  413: 'body_too_large',
  415: 'unsupported_media_type',
  501: 'method_not_allowed',
};

/** The one table from expected failures to HTTP statuses (law L6, D32). */
export const STATUS_OF_CODE: Readonly<Record<ErrorCode, number>> = {
  invalid_definition: 400,
  invalid_params: 400,
  invalid_options: 400,
  invalid_inputs: 400,
  invalid_request: 400,
  nothing_to_rerun: 400,
  run_already_terminal: 400,
  unauthorized: 401,
  forbidden: 403,
  foreign_host: 403,
  foreign_origin: 403,
  not_found: 404,
  run_not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  request_timeout: 408,
  run_not_settled: 409,
  run_cancelled: 409,
  idempotency_conflict: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  too_many_streams: 429,
  header_too_large: 431,
  task_failed: 500,
  internal: 500,
  not_implemented: 501,
  queue_full: 503,
  shutting_down: 503,
  // of the command line and the client alone: no server answers them
  unreadable_file: 500,
  bad_usage: 500,
  bad_tool_file: 500,
  server_unreachable: 500,
};

/** Seconds after which it is worth to ask again. */
export const RETRY_AFTER: Partial<Record<ErrorCode, number>> = {
  queue_full: 1,
  shutting_down: 5,
  too_many_streams: 5,
};

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
