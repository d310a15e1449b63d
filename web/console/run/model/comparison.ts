import type { TaskPage, TaskRecord } from '../../../../lib/runs/tasks/task-record.js';
import { isEqual } from '../../../shared/model/json-rows.js';
import type { Server } from '../../../shared/server/server.js';
import { formatSelection, selectionOf } from './addresses.js';

/** Tasks of each run that are compared: the first ones, in the order of the waves. */
export const MOST_COMPARED = 2000;

/** The tasks of a run that were read, by name. */
export interface ReadTasks {
  readonly tasks: ReadonlyMap<string, TaskRecord>;
  /** False when the run has more tasks. */
  readonly isWhole: boolean;
}

/** A task in a run and in the run that it repeats; undefined where it is not. */
export interface ComparedTask {
  readonly key: string;
  readonly before: TaskRecord | undefined;
  readonly after: TaskRecord | undefined;
  /** Names of what differs, or may differ. */
  readonly differs: readonly string[];
}

/** Reads the tasks of a run with their values, at most `MOST_COMPARED`. @throws ServerError */
export async function readComparedTasks(
  server: Pick<Server, 'getJson'>,
  runId: string,
  signal: AbortSignal,
): Promise<ReadTasks> {
  const tasks = new Map<string, TaskRecord>();
  let cursor: string | null = '';
  while (cursor !== null && tasks.size < MOST_COMPARED) {
    const query = new URLSearchParams({ limit: '500', ...(cursor !== '' && { cursor }) });
    const path = `/pipelines/runs/${encodeURIComponent(runId)}/tasks?${query}`;
    const page: TaskPage = await server.getJson<TaskPage>(path, {}, signal);
    for (const task of page.tasks) tasks.set(formatSelection(selectionOf(task)), task);
    cursor = page.next_cursor;
  }
  return { tasks, isWhole: cursor === null };
}

/**
 * Compares the tasks of two runs by name: those of the later run first, then those that it does not have. A task that
 * only one of them has is left out when the other has tasks that were not read: it may be one of those.
 *
 * @param redefined the names of the tasks whose definitions differ
 */
export function compareTasks(
  before: ReadTasks,
  after: ReadTasks,
  redefined: ReadonlySet<string>,
): ComparedTask[] {
  return [...new Set([...after.tasks.keys(), ...before.tasks.keys()])].flatMap((key) => {
    const [old, now] = [before.tasks.get(key), after.tasks.get(key)];
    if ((old === undefined && !before.isWhole) || (now === undefined && !after.isWhole)) return [];
    return [{ key, before: old, after: now, differs: listDifferences(old, now, redefined.has(key)) }];
  });
}

function listDifferences(
  before: TaskRecord | undefined,
  after: TaskRecord | undefined,
  isRedefined: boolean,
): string[] {
  if (before === undefined) return ['it is new'];
  if (after === undefined) return ['it is gone'];
  const differences: string[] = [];
  if (before.status !== after.status) differences.push('state');
  if (isRedefined) differences.push('definition');
  if (before.tool !== after.tool) differences.push('tool');
  for (const name of ['inputs', 'output'] as const) {
    if (!isEqual(before[name], after[name])) differences.push(name);
    else if (isCut(before, name) || isCut(after, name))
      differences.push(`perhaps ${name}: too large to compare`);
  }
  if (before.error?.message !== after.error?.message) differences.push('error');
  return differences;
}

/** True when the server has cut a value: what is left of it may be equal by chance. */
function isCut({ cut }: TaskRecord, name: 'inputs' | 'output'): boolean {
  return cut.some((pointer) => pointer === `/${name}` || pointer.startsWith(`/${name}/`));
}
