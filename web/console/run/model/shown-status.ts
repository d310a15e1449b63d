import type { TaskRecord } from '../../../../lib/runs/tasks/task-record.js';
import { formatInteger } from '../../../shared/model/format.js';

/** How a task or an item stands, as the page says it. */
type ShownStatus = TaskRecord['status'] | 'aborted' | 'not run';

/** The error of what was at work when its run was cancelled by force (D21). */
const STOPPED = 'stopped by force';

/**
 * A task that was aborted has failed for the server; for the reader, who wanted it to end, it has not. One that is skipped
 * without a reason has not run, because its run has ended before.
 */
export function shownStatus(
  status: TaskRecord['status'],
  error: string | null | undefined,
  skipReason?: string | null,
): ShownStatus {
  if (status === 'skipped') return (skipReason ?? null) === null ? 'not run' : status;
  return status === 'failed' && error === STOPPED ? 'aborted' : status;
}

/** Counts how the tasks have ended of a run, or a part of one, that has not succeeded. @param tasks undefined: nothing is known of it */
export function describeEnded(
  tasks: Iterable<
    | {
        readonly status: TaskRecord['status'];
        readonly error: string | null;
        readonly skipReason?: string | null;
      }
    | undefined
  >,
): string {
  const counts = { succeeded: 0, failed: 0, aborted: 0, skipped: 0, 'not run': 0 };
  for (const task of tasks) {
    const ended = (task && shownStatus(task.status, task.error, task.skipReason)) ?? 'not run';
    counts[ended === 'pending' || ended === 'running' ? 'not run' : ended]++;
  }
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${formatInteger(count)} ${state}`)
    .join(', ');
}
