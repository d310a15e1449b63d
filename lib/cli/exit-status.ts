import type { RunStatus } from '../../machines/types.js';
import { type ErrorCode, errorCode } from '../common/errors.js';

/** The exit statuses of the command line (D40). */
export const EXIT = {
  done: 0,
  /** The definition is invalid, a model wrote no valid one, or a store is damaged. */
  invalid: 1,
  /** A bad flag, bad JSON, a missing file or parameter. */
  usage: 2,
  /** The run failed, or its output could not be written. */
  failed: 3,
  /** A bug in this program; the number is EX_SOFTWARE of sysexits. */
  internal: 70,
  interrupted: 130,
} as const;

export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

/** Exit statuses by error code (law L6). */
const STATUS_BY_CODE: Record<ErrorCode, ExitStatus> = {
  invalid_definition: EXIT.invalid,
  invalid_params: EXIT.usage,
  invalid_options: EXIT.usage,
  invalid_inputs: EXIT.usage,
  secret_missing: EXIT.usage,
  provider_misconfigured: EXIT.usage,
  command_not_allowed: EXIT.usage,
  provider_failed: EXIT.failed,
  compile_failed: EXIT.invalid,
  unreadable_file: EXIT.usage,
  bad_usage: EXIT.usage,
  bad_tool_file: EXIT.usage,
  task_failed: EXIT.failed,
  run_timeout: EXIT.failed,
  run_cancelled: EXIT.interrupted,
  run_not_found: EXIT.usage,
  run_already_terminal: EXIT.usage,
  run_not_settled: EXIT.usage,
  run_not_paused: EXIT.usage,
  task_not_found: EXIT.usage,
  artifact_not_found: EXIT.usage,
  nothing_to_rerun: EXIT.usage,
  pipeline_not_found: EXIT.usage,
  file_changed: EXIT.usage,
  idempotency_conflict: EXIT.usage,
  result_gone: EXIT.usage,
  queue_full: EXIT.failed,
  busy: EXIT.failed,
  memory_full: EXIT.failed,
  shutting_down: EXIT.failed,
  not_ready: EXIT.failed,
  not_implemented: EXIT.failed,
  invalid_request: EXIT.usage,
  unauthorized: EXIT.usage,
  forbidden: EXIT.usage,
  foreign_host: EXIT.usage,
  foreign_origin: EXIT.usage,
  not_found: EXIT.usage,
  method_not_allowed: EXIT.usage,
  not_acceptable: EXIT.usage,
  request_timeout: EXIT.failed,
  body_too_large: EXIT.usage,
  header_too_large: EXIT.usage,
  unsupported_media_type: EXIT.usage,
  too_many_streams: EXIT.failed,
  too_many_failures: EXIT.failed,
  internal: EXIT.failed,
  server_unreachable: EXIT.failed,
};

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(STATUS_BY_CODE, code);
}

const STATUS_BY_RUN_STATUS: Record<RunStatus, ExitStatus> = {
  queued: EXIT.internal,
  running: EXIT.internal,
  succeeded: EXIT.done,
  failed: EXIT.failed,
  cancelled: EXIT.interrupted,
};

/** Returns the exit status for a thrown error. Errors without a code are bugs in this program. */
export function exitStatusForError(error: unknown): ExitStatus {
  const code = errorCode(error) ?? '';
  return isErrorCode(code) ? STATUS_BY_CODE[code] : EXIT.internal;
}

export function exitStatusForRun(status: RunStatus): ExitStatus {
  return STATUS_BY_RUN_STATUS[status];
}
