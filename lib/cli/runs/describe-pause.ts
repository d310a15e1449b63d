import { errorMessage } from '../../common/errors.js';
import { joinFirst } from '../../common/text.js';
import type { TaskRecord } from '../../runs/tasks/task-record.js';
import { formatCall } from '../render/failures.js';
import type { TaskReader } from '../run/run-end.js';

/** Tasks that are named. */
const MAX_NAMED_TASKS = 10;

/**
 * Says where a paused run stands: `before wave 3: sum` or `after a failure: load`. Never rejects: what cannot be read is
 * said instead.
 *
 * @param subPipeline the one that waits, in a plan
 */
export async function describePause(
  reader: Pick<TaskReader, 'tasks'>,
  runId: string,
  subPipeline?: string,
): Promise<string> {
  const query = { limit: MAX_NAMED_TASKS, ...(subPipeline !== undefined && { sub_pipeline: subPipeline }) };
  const list = async (status: TaskRecord['status']): Promise<readonly TaskRecord[]> =>
    (await reader.tasks(runId, { ...query, status })).tasks;
  const format = (tasks: readonly TaskRecord[]): string => joinFirst(tasks.map(formatCall), MAX_NAMED_TASKS);
  try {
    const failed = await list('failed');
    if (failed.length > 0) return `after a failure: ${format(failed)}`;
    const pending = await list('pending');
    const wave = pending[0]?.wave ?? 0;
    return `before wave ${wave + 1}: ${format(pending.filter((task) => task.wave === wave))}`;
  } catch (error) {
    return `(${errorMessage(error)})`;
  }
}
