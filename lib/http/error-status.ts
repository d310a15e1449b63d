import type { ErrorCode } from '../common/errors.js';

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
