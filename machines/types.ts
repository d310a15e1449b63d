/** The status of a run as the outside sees it (States and transitions). */
export type RunStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

/** How an invocation or a task ended. The value it produced never enters a machine. */
export type TaskResult = { readonly ok: true } | { readonly ok: false; readonly error: string };
