import { WavetrainError } from '../../common/errors.js';
import type { PipelineDefinition } from '../../definition/schema/schema.js';
import type { PlanDefinition } from '../../definition/schema/plan-schema.js';
import { nearest } from '../../definition/suggest.js';
import type { DefinitionFile } from '../input/load-definition.js';
import { formatCall } from '../render/failures.js';
import type { RunRecord } from '../../runs/record.js';
import { readTasks, type TaskReader } from './run-end.js';

/** The client of a server, or the registry of this process. */
export interface RunReader extends Pick<TaskReader, 'tasks'> {
  record(runId: string): RunRecord | Promise<RunRecord>;
}

/** Finds the task of a run that was probably meant, such as `write`; in a run of a plan `report/write`. */
export function nearestTask(client: RunReader, runId: string, name: string): Promise<string | undefined> {
  return nearestOf(name, () => readTaskNames(client, runId));
}

/**
 * Finds the name that was probably meant in `--from`: a task, in a run of a plan a sub-pipeline.
 *
 * @param changed the definition that the rerun has in place of the earlier one
 */
export function nearestPart(
  client: RunReader,
  runId: string,
  name: string,
  changed: DefinitionFile | undefined,
): Promise<string | undefined> {
  return nearestOf(name, async () => {
    if (changed !== undefined) return listParts(changed);
    const { sub_pipelines: subPipelines } = await client.record(runId);
    return subPipelines === null ? readTaskNames(client, runId) : Object.keys(subPipelines);
  });
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
  for await (const task of readTasks(runId, client, {})) names.push(formatCall(task));
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
