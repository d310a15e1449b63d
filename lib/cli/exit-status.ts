import type { RunStatus } from '../../machines/vocabulary.js';
import type { ErrorCode } from '../errors.js';
import { errorCode } from '../tools/error-code.js';

/** The exit statuses of the command line (D40). */
export const EXIT = {
  done: 0,
  /** The definition is invalid. */
  invalid: 1,
  /** A bad flag, bad JSON, a missing file or parameter. */
  usage: 2,
  /** The run failed, or what it produced could not be written. */
  failed: 3,
  /** A fault of this program; the number is sysexits' EX_SOFTWARE. */
  internal: 70,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

/** The one table from expected failures to exit statuses (law L6). */
const STATUS_OF_CODE: Record<ErrorCode, ExitStatus> = {
  invalid_definition: EXIT.invalid,
  invalid_params: EXIT.usage,
  invalid_options: EXIT.usage,
  invalid_inputs: EXIT.usage,
  unreadable_file: EXIT.usage,
  bad_usage: EXIT.usage,
  bad_tool_file: EXIT.usage,
  task_failed: EXIT.failed,
  run_cancelled: EXIT.interrupted,
  run_not_found: EXIT.usage,
  run_already_terminal: EXIT.usage,
  not_implemented: EXIT.failed,
};

const STATUS_OF_RUN: Record<RunStatus, ExitStatus> = {
  queued: EXIT.internal,
  running: EXIT.internal,
  succeeded: EXIT.done,
  failed: EXIT.failed,
  cancelled: EXIT.interrupted,
};

/** The exit status for something that was thrown; anything untyped is a fault of this program. */
export function statusOfError(error: unknown): ExitStatus {
  return (
    new Map<string, ExitStatus>(Object.entries(STATUS_OF_CODE)).get(errorCode(error) ?? '') ?? EXIT.internal
  );
}

/** The exit status for how a run ended. */
export function statusOfRun(status: RunStatus): ExitStatus {
  return STATUS_OF_RUN[status];
}
