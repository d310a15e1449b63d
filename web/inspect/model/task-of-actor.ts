/** The task that an actor carries out, as the routes of tasks name it. */
export interface TaskAddress {
  readonly taskId: string;
  /** Only in a run of a plan. */
  readonly subPipeline: string | undefined;
  /** Index of the item of a fan-out. */
  readonly item: number | undefined;
}

/**
 * Reads the task from the path of an actor, as in `run/wave/TASK`, `run/wave/TASK/fan-out/ITEM` and
 * `plan/sub-runs/SUB/wave/TASK`; undefined for other actors.
 */
export function taskOfActor(path: string): TaskAddress | undefined {
  const parts = path.split('/');
  const isPlan = parts[0] === 'plan';
  const wave = isPlan ? 3 : 1;
  const taskId = parts[wave + 1];
  if (parts[wave] !== 'wave' || taskId === undefined) return undefined;
  const last = parts.at(-1) ?? '';
  const isItem = parts[wave + 2] === 'fan-out' && /^\d+$/.test(last) && parts.length > wave + 3;
  return { taskId, subPipeline: isPlan ? parts[2] : undefined, item: isItem ? Number(last) : undefined };
}
