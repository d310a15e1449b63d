import { type ErrorCode, messageOf, type TaskFailure, WavetrainError } from '../common/errors.js';
import type { ValidationReport } from '../pipelines/report.js';

/** What the body of an error says, under `detail` (D32). */
export interface ErrorDetail {
  readonly code: ErrorCode;
  readonly message: string;
  /** Of an invalid definition: every error, as a sentence. */
  readonly errors?: readonly string[];
  /** Of an invalid definition: errors and warnings as data. */
  readonly problems?: ValidationReport['problems'];
  /** Of a failed run: the task that failed first, and what of; of a plan, whose task it was. */
  readonly sub_pipeline?: string;
  readonly task_id?: string;
  readonly error?: string;
  readonly failures?: readonly TaskFailure[];
  /** The run that the error is about. */
  readonly run_id?: string;
  /** Of a bug: the id under which the server's log tells more. */
  readonly id?: string;
}

interface Facts {
  readonly status?: number | undefined;
  readonly detail?: ErrorDetail | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** A request that was refused, or that no server answered (code `server_unreachable`). */
export class RequestError extends WavetrainError {
  override readonly name: string = 'RequestError';
  /** HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  /** All that the server said; undefined when it was no Wavetrain that answered, or nobody. */
  readonly detail: ErrorDetail | undefined;
  /** How long the server asks to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, { status, detail, retryAfterMs, cause }: Facts = {}) {
    super(code, message, { fault: status !== undefined && status < 500 ? 'caller' : 'service', cause });
    this.status = status;
    this.detail = detail;
    this.retryAfterMs = retryAfterMs;
  }
}

/** A run that was waited for failed: `task_id` and `error` are of the failure that came first (D16, D47). */
export class FailedRunError extends RequestError {
  override readonly name = 'FailedRunError';
  readonly run_id: string;
  /** Of a plan; undefined when the run was of a pipeline. */
  readonly sub_pipeline: string | undefined;
  readonly task_id: string;
  readonly error: string;
  readonly failures: readonly TaskFailure[];

  constructor(detail: ErrorDetail, status: number) {
    super('task_failed', detail.message, { status, detail });
    this.run_id = detail.run_id ?? '';
    this.sub_pipeline = detail.sub_pipeline;
    this.task_id = detail.task_id ?? '';
    this.error = detail.error ?? detail.message;
    this.failures = detail.failures ?? [];
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was lost',
  UND_ERR_SOCKET: 'the connection was lost',
  EPIPE: 'the connection was lost',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up',
  ETIMEDOUT: 'it does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  UND_ERR_HEADERS_TIMEOUT: 'it took too long to answer; for long runs use submit and settled',
  UND_ERR_BODY_TIMEOUT: 'it took too long to answer',
};

/** What `fetch` rejected with, in words: its own say no more than that it failed. */
export function connectionError(thrown: unknown, url: string): RequestError {
  const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown;
  const code =
    typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : undefined;
  const reason = REASONS[code ?? ''] ?? messageOf(cause);
  return new RequestError('server_unreachable', `cannot reach a server at ${url}: ${reason}`, {
    cause: thrown,
  });
}

/** What an answer was, once it is read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The error that an answer tells. */
export function refusalOf(answer: Answer, url: string, retryAfterMs: number | undefined): RequestError {
  const { status } = answer;
  const detail = detailIn(answer);
  if (detail === undefined) return strangeAnswer(answer, url, retryAfterMs);
  if (detail.code === 'task_failed') return new FailedRunError(detail, status);
  return new RequestError(detail.code, detail.message, { status, detail, retryAfterMs });
}

/** The JSON of an answer. Throws `server_unreachable` when it is none: something else has answered. */
export function jsonOf(answer: Answer, url: string): unknown {
  const value = parsed(answer);
  if (value === undefined) throw strangeAnswer(answer, url);
  return value;
}

function detailIn(answer: Answer): ErrorDetail | undefined {
  const body = parsed(answer);
  if (typeof body !== 'object' || body === null || !('detail' in body)) return undefined;
  const { detail } = body as { detail: Partial<ErrorDetail> | null };
  if (typeof detail?.code !== 'string' || typeof detail.message !== 'string') return undefined;
  return detail as ErrorDetail;
}

function parsed({ text }: Answer): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // told by whoever asks
  }
}

/** A proxy, or a server of another kind. */
export function strangeAnswer(
  { status, headers }: Pick<Answer, 'status' | 'headers'>,
  url: string,
  retryAfterMs?: number,
): RequestError {
  const location = headers.get('location');
  const said = headers.get('content-type') ?? 'no content';
  const message =
    status >= 300 && status < 400 && location !== null
      ? `${url} leads elsewhere (${status}): use the address ${location} leads to`
      : `${url} answered ${status} with ${said}, which is no answer of Wavetrain: another server, or a proxy before it?`;
  return new RequestError('server_unreachable', message, { status, retryAfterMs });
}
