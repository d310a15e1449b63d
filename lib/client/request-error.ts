import { type ErrorCode, type TaskFailure, WavetrainError } from '../common/errors.js';
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
