/** The status of a run as the outside sees it (States and transitions). */
export type RunStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

/** The status of a task or an item: `pending` may still begin, `skipped` cannot, because its run or fan-out has ended (D59). */
export type TaskStatus = 'pending' | 'running' | 'succeeded' | 'failed' | 'skipped';

/** How an invocation or a task ended. The value it produced never enters a machine. */
export type TaskResult = { readonly ok: true } | FailedResult;

export interface FailedResult {
  readonly ok: false;
  readonly error: string;
  /** Set for an item without which its fan-out goes on (D67). */
  readonly collected?: true;
}
