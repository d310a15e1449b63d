import type { Upstream } from '../waves/layering.js';
import type { Draft, DraftTask } from './draft.js';

/** Who runs before whom: by the outputs that a task's templates read, and by `await` (rules 5 and 6). */
export function upstreamOf(draft: Draft): Upstream {
  return new Map(draft.tasks.map((task) => [task.id, upstreamOfTask(task, draft.taskIds)]));
}

function upstreamOfTask(task: DraftTask, taskIds: ReadonlySet<string>): Set<string> {
  const upstream = new Set<string>();
  const follow = (id: string): void => {
    if (id !== task.id && taskIds.has(id)) upstream.add(id);
  };
  for (const { reference } of task.references) if (reference.kind === 'task') follow(reference.taskId);
  for (const { reference } of task.overReferences) if (reference.kind === 'task') follow(reference.taskId);
  for (const id of task.awaits) follow(id);
  return upstream;
}
