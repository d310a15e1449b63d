/**
 * Expected failures. Each has a code and says whose fault it is (law L6); anything else that is thrown is a bug.
 */

/** Every code an expected failure can carry. The edges map each to an HTTP status or an exit status. */
export type ErrorCode =
  | 'invalid_definition'
  | 'invalid_params'
  | 'invalid_options'
  | 'invalid_inputs'
  | 'unreadable_file'
  | 'bad_usage'
  | 'bad_tool_file'
  | 'task_failed'
  | 'run_cancelled'
  | 'run_not_found'
  | 'run_already_terminal'
  | 'run_not_settled'
  | 'nothing_to_rerun'
  | 'idempotency_conflict'
  | 'queue_full'
  | 'shutting_down'
  | 'not_implemented'
  // of requests over HTTP (D32)
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
  | 'internal'
  // of the client
  | 'server_unreachable';

/** Whose fault it is: the caller's words, a tool at work, or something this version does not do. */
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

/** What the distributed executor answers until it is configured (Errors, rule 5; D52). */
export class NotImplementedError extends WavetrainError {
  override readonly name = 'NotImplementedError';

  constructor(what: string) {
    super('not_implemented', `${what} is not implemented: configure the distributed executor first`, {
      fault: 'service',
    });
  }
}

/** One task, or one item of it, that failed (D16). */
export interface TaskFailure {
  /** The sub-pipeline whose task it was, in a run of a plan. */
  readonly sub_pipeline?: string;
  readonly task_id: string;
  readonly error: string;
  /** Attempts made; 0 when the tool was never reached. */
  readonly attempts: number;
  /** Position in the fan-out, from 0. */
  readonly item?: number;
}

/** A run failed: `task_id` and `error` are of the failure that came first in time, `failures` has all. */
export class TaskFailedError extends WavetrainError {
  override readonly name = 'TaskFailedError';
  readonly run_id: string;
  readonly task_id: string;
  readonly error: string;
  readonly failures: readonly TaskFailure[];

  /** @param error what the run failed of, should no task have */
  constructor(runId: string, failures: readonly TaskFailure[], error: string) {
    const first = failures[0] ?? { task_id: '', error };
    super('task_failed', failures[0] ? `${whoFailed(failures[0])} failed: ${first.error}` : error, {
      fault: 'tool',
    });
    this.run_id = runId;
    this.task_id = first.task_id;
    this.error = first.error;
    this.failures = failures;
  }
}

/** `task "t"`, or `sub-pipeline "b", task "t"`. */
export function whoFailed({ sub_pipeline: subPipeline, task_id: taskId }: TaskFailure): string {
  return `${subPipeline === undefined ? '' : `sub-pipeline "${subPipeline}", `}task "${taskId}"`;
}

/**
 * Thrown by a tool to say how it failed. `retryable: false` spends no further attempt on an error that cannot
 * go away by itself; any other error that a tool throws is retried as the task declares (D2).
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly retryable: boolean;

  constructor(message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryable = options.retryable ?? true;
  }
}

/**
 * Should a failed attempt be the last one? Asked of the shape and not of the class, because a tool file may carry
 * its own copy of this package. Never throws, whatever was thrown.
 */
export function isFinal(thrown: unknown): boolean {
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

/** The words of anything that was thrown or rejected, whatever it is. Never throws itself. */
export function messageOf(thrown: unknown): string {
  try {
    return shortened(wordsOf(thrown));
  } catch {
    return 'failed with something that cannot be read';
  }
}

/** Longer messages are data and no words; nobody reads them, and every record would carry them. */
const LONGEST_MESSAGE = 4000;

function shortened(message: string): string {
  if (message.length <= LONGEST_MESSAGE) return message;
  const half = LONGEST_MESSAGE / 2;
  return `${message.slice(0, half)} … (${message.length} characters) … ${message.slice(-half)}`;
}

function wordsOf(thrown: unknown): string {
  const said: unknown = thrown instanceof Error ? thrown.message || thrown.name : thrown;
  if (typeof said === 'string' && said !== '') return said;
  if (said === undefined || said === null || said === '') return 'failed without saying why';
  return JSON.stringify(said) ?? `failed with a ${typeof said}`;
}

/** The `code` of an error of Node's or of a library, such as `ENOENT`. */
export function errorCode(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}
