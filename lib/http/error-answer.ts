import { isObject } from '../common/json.js';
import { type ErrorCode, messageOf, TaskFailedError, WavetrainError } from '../common/errors.js';
import { InvalidDefinitionError } from '../pipelines/invalid-definition.js';
import { errorsOf } from '../pipelines/report.js';
import { RETRY_AFTER, STATUS_OF_CODE } from './error-status.js';
import type { ErrorBody } from './schemas/error.js';

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
