import {
  errorMessage,
  findCause,
  RunBusyError,
  TaskFailedError,
  WavetrainError,
} from '../../common/errors.js';
import { isObject } from '../../common/json/json.js';
import { CompileFailedError } from '../../compile/result.js';
import { FileChangedError } from '../../library/write-file.js';
import { InvalidDefinitionError } from '../../pipelines/load.js';
import { formatErrors } from '../../pipelines/report.js';
import type { ErrorBody } from '../schemas/error.js';
import type { HttpServices } from '../services.js';
import { errorStatus, type HttpErrorCode } from './error-statuses.js';

export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
}

type Detail = ErrorBody['detail'];

/** Converts anything thrown to a response. Returns undefined for a bug, whose details must not leave this process. */
export function errorResponse(thrown: WavetrainError): ErrorResponse;
export function errorResponse(thrown: unknown): ErrorResponse | undefined;
export function errorResponse(thrown: unknown): ErrorResponse | undefined {
  const error = toWavetrainError(thrown);
  return error === undefined ? undefined : toResponse(toDetail(error));
}

/**
 * Converts anything thrown to a response. The response to a bug names an id, under which the log has the details (D32).
 *
 * @param facts of the request, for the log
 */
export function loggedErrorResponse(
  thrown: unknown,
  { log, newId }: Pick<HttpServices, 'log' | 'newId'>,
  facts: object,
): ErrorResponse {
  const response = errorResponse(thrown);
  if (response !== undefined) return response;
  const id = newId();
  log.error({ err: thrown, id, ...facts }, 'internal error');
  const message = `internal error: the server's log has the details under ${id}`;
  return toResponse({ code: 'internal', message, id });
}

/** Accepts this project's errors, and those of Koa and its body parser, which have a status. */
function toWavetrainError(thrown: unknown): WavetrainError | undefined {
  if (thrown instanceof WavetrainError) return thrown;
  if (!isObject(thrown) || typeof thrown['status'] !== 'number') return undefined;
  const code = KOA_ERROR_CODES[thrown['status']];
  return code === undefined ? undefined : new WavetrainError(code, errorMessage(thrown), { cause: thrown });
}

const KOA_ERROR_CODES: Readonly<Record<number, HttpErrorCode>> = {
  400: 'invalid_request',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  413: 'body_too_large',
  415: 'unsupported_media_type',
  501: 'method_not_allowed',
};

function toDetail(error: WavetrainError): Detail {
  const { code, message } = error;
  if (error instanceof InvalidDefinitionError) {
    return { code, message, errors: formatErrors(error.problems), problems: [...error.problems] };
  }
  if (error instanceof RunBusyError) return { code, message, run_id: error.runId };
  if (error instanceof FileChangedError) return { code, message, version: error.version };
  if (error instanceof TaskFailedError) {
    const { task_id, error: reason, failures, run_id } = error;
    const subPipeline = findCause(failures)?.sub_pipeline;
    const task = { ...(subPipeline !== undefined && { sub_pipeline: subPipeline }), task_id };
    return { code, message, ...task, error: reason, failures: [...failures], run_id };
  }
  if (error instanceof CompileFailedError) {
    const { attempts, repair_history: history, usage, model, last_yaml, last_error } = error;
    return { code, message, attempts, repair_history: [...history], last_yaml, last_error, usage, model };
  }
  return { code, message };
}

function toResponse(detail: Detail): ErrorResponse {
  const { status, retryAfter } = errorStatus(detail.code);
  return {
    status,
    headers: {
      ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
      ...(detail.code === 'unauthorized' && { 'WWW-Authenticate': 'Bearer' }),
    },
    body: { detail },
  };
}
