import type { TaskRecord } from '../../../../lib/runs/tasks/task-record.js';

/** How a task or an item stands, as the page says it. */
type ShownStatus = TaskRecord['status'] | 'aborted';

/** The error of what was at work when its run was cancelled by force (D21). */
const STOPPED = 'stopped by force';

/** A task that was aborted has failed for the server; for the reader, who wanted it to end, it has not. */
export function shownStatus(status: TaskRecord['status'], error: string | null | undefined): ShownStatus {
  return status === 'failed' && error === STOPPED ? 'aborted' : status;
}
