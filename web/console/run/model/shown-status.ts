import type { TaskRecord } from '../../../../lib/runs/tasks/task-record.js';

/** How a task or an item stands, as the page says it. */
type ShownStatus = Exclude<TaskRecord['status'], 'skipped'> | 'aborted' | 'not run';

/** The error of what was at work when its run was cancelled by force (D21). */
const STOPPED = 'stopped by force';

/**
 * A task that was aborted has failed for the server; for the reader, who wanted it to end, it has not. One that was
 * skipped has not run, as the header of the run counts it.
 */
export function shownStatus(status: TaskRecord['status'], error: string | null | undefined): ShownStatus {
  if (status === 'skipped') return 'not run';
  return status === 'failed' && error === STOPPED ? 'aborted' : status;
}
