/** The status of a run as the outside sees it (States and transitions). */
export type RunStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

/** The status of a sub-pipeline: that of its run, or `skipped` when it has none, because its condition did not hold (D77). */
export type SubPipelineStatus = RunStatus | 'skipped';

/** The status of a task or an item: `pending` may still begin, `skipped` cannot: its condition did not hold (D78), or its run or fan-out has ended (D59). */
export type TaskStatus = 'pending' | 'running' | 'succeeded' | 'failed' | 'skipped';

/** How an invocation or a task ended. The value it produced never enters a machine. */
export type TaskResult = SucceededResult | FailedResult;

export interface SucceededResult {
  readonly ok: true;
  /** Set for a task or an item that calls nothing, because its condition does not hold (D78). */
  readonly skipped?: true;
}

/** The end of a task or an item that calls nothing. */
export const SKIPPED = { ok: true, skipped: true } as const;

export interface FailedResult {
  readonly ok: false;
  readonly error: string;
  /** Set for an item without which its fan-out goes on (D67). */
  readonly collected?: true;
  /** Set for a task without which its run goes on (D79). */
  readonly tolerated?: true;
}

/** The last state of the actor of a task or an item. */
export function toEndState(result: TaskResult): 'succeeded' | 'skipped' | 'failed' {
  if (!result.ok) return 'failed';
  return result.skipped ? 'skipped' : 'succeeded';
}
