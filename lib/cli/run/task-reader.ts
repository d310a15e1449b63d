import { errorMessage, type FailedTask, WavetrainError } from '../../common/errors.js';
import { joinFirst, nameCall } from '../../common/text.js';
import type { PlanDefinition } from '../../definition/schema/plan-schema.js';
import type { PipelineDefinition } from '../../definition/schema/schema.js';
import { nearest } from '../../definition/did-you-mean.js';
import type { RunRecord } from '../../runs/record.js';
import type { ItemRecord, TaskOptions, TaskQuery, TaskRecord } from '../../runs/tasks/task-record.js';
import type { QueriesApi } from '../context.js';
import type { DefinitionFile } from '../input/load-definition.js';

/** Shows the tasks of a run: the registry of this process, or the client of a server. */
export type TaskReader = Pick<QueriesApi, 'tasks' | 'task' | 'item'>;

const MAX_PAGE_SIZE = 500;

/** Reads the tasks of a run page by page, `most` of them at most. */
export async function* readTasks(
  runId: string,
  reader: Pick<TaskReader, 'tasks'>,
  query: TaskQuery,
  most: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<TaskRecord> {
  let left = most;
  let cursor: string | undefined;
  do {
    const page = await reader.tasks(runId, { ...query, limit: Math.min(left, MAX_PAGE_SIZE), cursor });
    yield* page.tasks;
    left -= page.tasks.length;
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && left > 0);
}

/** Names a task or an item, as failures do. */
type NamedCall = { readonly [K in keyof FailedTask]: FailedTask[K] | undefined } & Pick<
  FailedTask,
  'task_id'
>;

export function readCall(
  runId: string,
  reader: Pick<TaskReader, 'task' | 'item'>,
  { task_id: taskId, item, sub_pipeline }: NamedCall,
  query: Pick<TaskOptions, 'whole'> = {},
): Promise<TaskRecord | ItemRecord> {
  const options = { sub_pipeline, ...query };
  return item === undefined ? reader.task(runId, taskId, options) : reader.item(runId, taskId, item, options);
}

const MAX_NAMED_TASKS = 10;

/** Says where a paused run, or a sub-pipeline, stands: `before wave 3: sum` or `after a failure: load`. Never rejects. */
export async function describePause(
  reader: Pick<TaskReader, 'tasks'>,
  runId: string,
  subPipeline?: string,
): Promise<string> {
  const query = { limit: MAX_NAMED_TASKS, ...(subPipeline !== undefined && { sub_pipeline: subPipeline }) };
  const list = async (status: TaskRecord['status']): Promise<readonly TaskRecord[]> =>
    (await reader.tasks(runId, { ...query, status })).tasks;
  const format = (tasks: readonly TaskRecord[]): string => joinFirst(tasks.map(nameCall), MAX_NAMED_TASKS);
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

/** The client of a server, or the registry of this process. */
export interface RunReader extends Pick<TaskReader, 'tasks'> {
  record(runId: string): RunRecord | Promise<RunRecord>;
}

/** Finds the task of a run that was probably meant, such as `write`; in a run of a plan `report/write`. */
export function nearestTask(client: RunReader, runId: string, name: string): Promise<string | undefined> {
  return nearestOf(name, () => readTaskNames(client, runId));
}

/** The value of `--from`, with the items that it names. */
const PART = /^([^[\]]*)(\[.*)?$/;

/**
 * Finds the task, or in a plan the sub-pipeline, that `--from` probably meant, as a shell takes it: `'fetch[22]'` with its items.
 *
 * @param changed the definition of the rerun
 */
export async function nearestPart(
  client: RunReader,
  runId: string,
  from: string,
  changed: DefinitionFile | undefined,
): Promise<string | undefined> {
  const [, name = from, items = ''] = PART.exec(from) ?? [];
  const found = await nearestOf(name, async () => {
    if (changed !== undefined) return listParts(changed);
    const { sub_pipelines: subPipelines } = await client.record(runId);
    const isTask = subPipelines === null || name.includes('/');
    return isTask ? readTaskNames(client, runId) : Object.keys(subPipelines);
  });
  // Shells read brackets as a pattern of file names.
  return found === undefined || items === '' ? found : `'${found}${items}'`;
}

/** Returns undefined when no name is similar, when the name is right, and when a server does not say which there are. */
async function nearestOf(
  name: string,
  readNames: () => Promise<readonly string[]>,
): Promise<string | undefined> {
  try {
    const found = nearest(name, await readNames());
    return found === name ? undefined : found;
  } catch (error) {
    if (error instanceof WavetrainError) return undefined;
    throw error;
  }
}

async function readTaskNames(client: RunReader, runId: string): Promise<string[]> {
  const names: string[] = [];
  for await (const task of readTasks(runId, client, {})) names.push(nameCall(task));
  return names;
}

/** The parts of a definition that a server has found valid. */
async function listParts({ kind, source }: DefinitionFile): Promise<string[]> {
  const { findRoot } = await import('../lazy/validation.js');
  const root = findRoot(source.value, kind);
  if (!root.ok) return [];
  const parts =
    kind === 'plan'
      ? (root.definition as PlanDefinition).sub_pipelines
      : (root.definition as PipelineDefinition).tasks;
  return parts.map(({ id }) => id);
}
