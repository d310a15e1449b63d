/** The status of a run as the outside sees it (States and transitions). */
export type RunStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

/**
 * The status of a task, or of an item of a fan-out. `pending`: it may still begin; `skipped`: the run, or the fan-out,
 * ended before it could begin (D59).
 */
export type TaskStatus = 'pending' | 'running' | 'succeeded' | 'failed' | 'skipped';

/** How an invocation or a task ended. The value it produced never enters a machine. */
export type TaskResult = { readonly ok: true } | FailedResult;

export interface FailedResult {
  readonly ok: false;
  readonly error: string;
  /** Set for an item without which its fan-out goes on (D67). */
  readonly collected?: true;
}
