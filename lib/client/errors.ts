import {
  type ErrorCode,
  type ErrorDetail,
  errorCode,
  errorMessage,
  RUN_TIMEOUT,
  type TaskFailure,
  WavetrainError,
} from '../common/errors.js';

interface RequestErrorOptions {
  readonly status?: number | undefined;
  readonly detail?: ErrorDetail | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** A request that the server rejected, or that no Wavetrain server responded to (code `server_unreachable`). */
export class RequestError extends WavetrainError {
  override readonly name: string = 'RequestError';
  /** HTTP status; undefined when there was no response. */
  readonly status: number | undefined;
  /** The detail of the response; undefined when there was none, or not from a Wavetrain server. */
  readonly detail: ErrorDetail | undefined;
  /** The Retry-After header in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    { status, detail, retryAfterMs, cause }: RequestErrorOptions = {},
  ) {
    super(code, message, { fault: status !== undefined && status < 500 ? 'caller' : 'service', cause });
    this.status = status;
    this.detail = detail;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * A synchronous run failed: `task_id` and `error` are those of the first failure (D16, D47). Of a run whose time was over
 * (`run_timeout`), `task_id` is empty (D81).
 */
export class FailedRunError extends RequestError {
  override readonly name = 'FailedRunError';
  readonly run_id: string;
  /** The sub-pipeline of the task; undefined in the run of a pipeline. */
  readonly sub_pipeline: string | undefined;
  readonly task_id: string;
  readonly error: string;
  readonly failures: readonly TaskFailure[];

  constructor(detail: ErrorDetail, status: number) {
    super(detail.code, detail.message, { status, detail });
    this.run_id = detail.run_id ?? '';
    this.sub_pipeline = detail.sub_pipeline;
    this.task_id = detail.task_id ?? '';
    this.error = detail.error ?? detail.message;
    this.failures = detail.failures ?? [];
  }
}

const CONNECTION_ERRORS: ReadonlyMap<string | undefined, string> = new Map([
  ['ECONNREFUSED', 'the connection was refused'],
  ['ECONNRESET', 'the connection was lost'],
  ['UND_ERR_SOCKET', 'the connection was lost'],
  ['EPIPE', 'the connection was lost'],
  ['ENOTFOUND', 'the host name is unknown'],
  ['EAI_AGAIN', 'the host name cannot be resolved'],
  ['ETIMEDOUT', 'the server does not respond'],
  ['UND_ERR_CONNECT_TIMEOUT', 'the server does not respond'],
  ['UND_ERR_HEADERS_TIMEOUT', 'the response took too long; for long runs use submit and settled'],
  ['UND_ERR_BODY_TIMEOUT', 'the response took too long'],
]);

/** Explains why `fetch` rejected: its own message says only that it failed. */
export function connectionError(error: unknown, url: string): RequestError {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const reason = CONNECTION_ERRORS.get(errorCode(cause)) ?? errorMessage(cause);
  return new RequestError('server_unreachable', `cannot reach a server at ${url}: ${reason}`, {
    cause: error,
  });
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export function toRequestError(
  response: HttpResponse,
  url: string,
  retryAfterMs: number | undefined,
): RequestError {
  const { status } = response;
  const detail = readDetail(response);
  if (detail === undefined) return unexpectedResponse(response, url, retryAfterMs);
  if (detail.code === 'task_failed' || detail.code === RUN_TIMEOUT) return new FailedRunError(detail, status);
  return new RequestError(detail.code, detail.message, { status, detail, retryAfterMs });
}

/**
 * Parses the body of a response.
 *
 * @throws RequestError `server_unreachable` when it is not JSON, because it cannot come from a Wavetrain server
 */
export function parseJsonBody(response: HttpResponse, url: string): unknown {
  const value = tryParse(response.text);
  if (value === undefined) throw unexpectedResponse(response, url);
  return value;
}

function readDetail({ text }: HttpResponse): ErrorDetail | undefined {
  const body = tryParse(text);
  if (typeof body !== 'object' || body === null || !('detail' in body)) return undefined;
  const { detail } = body as { detail: Partial<ErrorDetail> | null };
  if (typeof detail?.code !== 'string' || typeof detail.message !== 'string') return undefined;
  return detail as ErrorDetail;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A response that a proxy or another kind of server has sent. */
export function unexpectedResponse(
  { status, headers }: Pick<HttpResponse, 'status' | 'headers'>,
  url: string,
  retryAfterMs?: number,
): RequestError {
  const location = headers.get('location');
  const type = headers.get('content-type') ?? 'no content';
  const message =
    status >= 300 && status < 400 && location !== null
      ? `${url} redirects to ${location} (${status}): use the address of the server there`
      : `${url} responded with ${status} and ${type}, which is not a response of Wavetrain: another server or a proxy may be listening there`;
  return new RequestError('server_unreachable', message, { status, retryAfterMs });
}
