/** The expected errors. Each has a code and the party at fault (law L6); any other thrown value is a bug. */

import { copyText } from './text.js';
import type {
  ErrorDetailSchema,
  FailedTaskSchema,
  TaskFailureSchema,
  SkippedTaskSchema,
} from './wire/failure.js';
import type { Shape } from './wire/shape.js';

/** The codes of expected errors. `lib/http` maps each to an HTTP status, `lib/cli` to an exit status. */
export type ErrorCode =
  | 'invalid_definition'
  | 'invalid_params'
  | 'invalid_options'
  | 'invalid_inputs'
  | 'secret_missing'
  | 'provider_misconfigured'
  | 'command_not_allowed'
  | 'provider_failed'
  | 'compile_failed'
  | 'unreadable_file'
  | 'bad_usage'
  | 'bad_tool_file'
  | 'task_failed'
  | 'run_timeout'
  | 'run_cancelled'
  | 'run_not_found'
  | 'run_already_terminal'
  | 'run_not_settled'
  | 'run_not_paused'
  | 'task_not_found'
  | 'artifact_not_found'
  | 'nothing_to_rerun'
  | 'pipeline_not_found'
  | 'file_changed'
  | 'idempotency_conflict'
  | 'result_gone'
  | 'queue_full'
  | 'busy'
  | 'memory_full'
  | 'shutting_down'
  | 'not_ready'
  | 'not_implemented'
  // requests over HTTP (D32)
  | 'invalid_request'
  | 'unauthorized'
  | 'forbidden'
  | 'foreign_host'
  | 'foreign_origin'
  | 'not_found'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'request_timeout'
  | 'body_too_large'
  | 'header_too_large'
  | 'unsupported_media_type'
  | 'too_many_streams'
  | 'too_many_failures'
  | 'internal'
  // the client
  | 'server_unreachable';

/** The party at fault: the caller's input, a tool, or the service itself. */
export type Fault = 'caller' | 'tool' | 'service';

export class WavetrainError extends Error {
  override readonly name: string = 'WavetrainError';
  readonly code: ErrorCode;
  readonly fault: Fault;

  constructor(code: ErrorCode, message: string, options: { fault?: Fault; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.fault = options.fault ?? 'caller';
  }
}

/** The error of an environment variable with a value that it cannot have. @param problem as the end of a sentence */
export function invalidVariable(name: string, problem: string, cause?: unknown): WavetrainError {
  return new WavetrainError('bad_usage', `the environment variable ${name} ${problem}`, { cause });
}

/** A run was refused because others of its definition are at work (D81). */
export class RunBusyError extends WavetrainError {
  override readonly name = 'RunBusyError';
  /** The one at work that came first. */
  readonly runId: string;

  constructor(runId: string, limit: number) {
    const runs = limit === 1 ? 'a run' : `${limit} runs`;
    super(
      'busy',
      `${runs} of this definition at work already: run ${runId} came first (max_running: ${limit})`,
    );
    this.runId = runId;
  }
}

/** Thrown by the distributed executor until it is configured (Errors, rule 5; D52). */
export class NotImplementedError extends WavetrainError {
  override readonly name = 'NotImplementedError';

  constructor(what: string) {
    super('not_implemented', `${what} is not implemented: configure the distributed executor first`, {
      fault: 'service',
    });
  }
}

/** A task, or one of its items, that failed (D16). */
export interface TaskFailure extends Shape<typeof TaskFailureSchema> {}

/** A task that called nothing (D78). */
export interface SkippedTask extends Shape<typeof SkippedTaskSchema> {}

/** The task, or the item, that failed a run. */
export interface FailedTask extends Shape<typeof FailedTaskSchema> {}

/** The `detail` of an error response (D32). */
export interface ErrorDetail extends Omit<Shape<typeof ErrorDetailSchema>, 'code'> {
  readonly code: ErrorCode;
}

/** The task of the failure that failed the run; null when no task has failed. */
export function findFailedTask(failures: readonly TaskFailure[]): FailedTask | null {
  const cause = findCause(failures);
  if (cause === undefined) return null;
  const { sub_pipeline, task_id, item } = cause;
  return {
    ...(sub_pipeline !== undefined && { sub_pipeline }),
    task_id,
    ...(item !== undefined && { item }),
  };
}

/** Returns true for a failure without which the run went on: it was collected, or tolerated (D67, D79). */
export function isBorne({ collected, tolerated }: TaskFailure): boolean {
  return collected === true || tolerated === true;
}

/** The failure that failed the run: the earliest one that was neither collected nor tolerated (D16, D67, D79). */
export function findCause(failures: readonly TaskFailure[]): TaskFailure | undefined {
  return failures.find((failure) => !isBorne(failure));
}

/** The code of a run whose time was over (D81). */
export const RUN_TIMEOUT = 'run_timeout';

/**
 * A run failed: `task_id` and `error` describe the failure that came first in time, `failures` all of them. Of a run whose
 * time was over (`run_timeout`), `error` says so, and `task_id` is empty.
 */
export class TaskFailedError extends WavetrainError {
  override readonly name = 'TaskFailedError';
  readonly run_id: string;
  readonly task_id: string;
  readonly error: string;
  readonly failures: readonly TaskFailure[];

  /** @param error the reason of a run that failed without a failed task */
  constructor(
    runId: string,
    failures: readonly TaskFailure[],
    error: string,
    code: 'task_failed' | typeof RUN_TIMEOUT = 'task_failed',
  ) {
    const cause = code === RUN_TIMEOUT ? undefined : findCause(failures);
    super(code, cause ? `${describeFailedTask(cause)} failed: ${cause.error}` : error, {
      fault: 'tool',
    });
    this.run_id = runId;
    this.task_id = cause?.task_id ?? '';
    this.error = cause?.error ?? error;
    this.failures = failures;
  }
}

/** Formats `task "t"`, or `sub-pipeline "b", task "t"`. */
export function describeFailedTask({ sub_pipeline: subPipeline, task_id: taskId }: TaskFailure): string {
  return `${subPipeline === undefined ? '' : `sub-pipeline "${subPipeline}", `}task "${taskId}"`;
}

/**
 * Creates the error of a settled run that has no result: `run_cancelled`, `task_failed` with its failures (D16), or
 * `run_timeout` (D81).
 */
export function createRunError(
  runId: string,
  { status, failures, error, failedTask, errorCode: code }: SettledRun,
): WavetrainError {
  if (status === 'cancelled') return new WavetrainError('run_cancelled', `run ${runId} was cancelled`);
  // The time of a pipeline inside a task may be over as well: then the task has failed.
  const isTimedOut = code === RUN_TIMEOUT && failedTask === null;
  return new TaskFailedError(runId, failures, error ?? 'failed', isTimedOut ? RUN_TIMEOUT : 'task_failed');
}

interface SettledRun {
  readonly status: string;
  readonly failures: readonly TaskFailure[];
  readonly error: string | null | undefined;
  readonly failedTask: FailedTask | null;
  readonly errorCode: string | null;
}

/**
 * Thrown by a tool to control retries: `retryable: false` makes the attempt the last one. Any other error of a tool is
 * retried as the task declares (D2).
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly retryable: boolean;
  /** Milliseconds for which no further attempt should begin, as a server has asked (D62). */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    options: { retryable?: boolean; cause?: unknown; retryAfterMs?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryable = options.retryable ?? true;
    this.retryAfterMs = options.retryAfterMs;
  }

  /** Creates an error that no further attempt can avoid. */
  static nonRetryable(message: string, cause?: unknown): ToolError {
    return new ToolError(message, { retryable: false, cause });
  }
}

/**
 * Returns true when a thrown value forbids further attempts. Checks the shape instead of the class, because a tool file
 * may use its own copy of this package. Never throws.
 */
export function isNonRetryable(thrown: unknown): boolean {
  try {
    return (
      thrown instanceof Error &&
      thrown.name === 'ToolError' &&
      'retryable' in thrown &&
      thrown.retryable === false
    );
  } catch {
    return false;
  }
}

/** The `retryAfterMs` of a thrown ToolError, by its shape; 0 when it has none. Never throws. */
export function readRetryAfterMs(thrown: unknown): number {
  try {
    if (!(thrown instanceof Error) || thrown.name !== 'ToolError' || !('retryAfterMs' in thrown)) return 0;
    const { retryAfterMs } = thrown;
    return typeof retryAfterMs === 'number' && retryAfterMs > 0 ? retryAfterMs : 0;
  } catch {
    return 0;
  }
}

/**
 * Returns the message of any thrown value, at most about 4,000 characters of it. A copy: a message may quote a part of a
 * large text, which V8 would keep with it. Never throws.
 *
 * @param mask is called with the whole message, and replaces the secrets in it (D61)
 */
export function errorMessage(thrown: unknown, mask?: (text: string) => string): string {
  try {
    const message = readMessage(thrown);
    return shorten(mask === undefined ? message : mask(message));
  } catch {
    return 'failed with a value that cannot be read';
  }
}

/** A longer message contains data, which every record of the run would keep. */
const MAX_MESSAGE_LENGTH = 4000;

function shorten(message: string): string {
  if (message.length <= MAX_MESSAGE_LENGTH) return copyText(message);
  const half = MAX_MESSAGE_LENGTH / 2;
  const [start, end] = [message.slice(0, half), message.slice(-half)].map(copyText);
  return `${start} … (${message.length} characters) … ${end}`;
}

function readMessage(thrown: unknown): string {
  const message: unknown = thrown instanceof Error ? thrown.message || thrown.name : thrown;
  if (typeof message === 'string' && message !== '') return message;
  if (message === undefined || message === null || message === '') return 'failed without a message';
  return JSON.stringify(message) ?? `failed with a ${typeof message}`;
}

/** Returns the `code` of an error of Node.js, of a library or of ours: `ENOENT`, `task_failed`. */
export function errorCode(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}
