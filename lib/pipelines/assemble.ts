import type { Problem } from '../definition/problem.js';
import type { PipelineDefinition, TaskDefinition } from '../definition/schema.js';
import type { Catalog } from '../tools/catalog.js';
import { weightOf } from '../json.js';
import { statisticsOf } from '../waves/statistics.js';
import { contractOf } from './contract.js';
import type { Draft, DraftTask } from './draft.js';
import { upstreamOf } from './order.js';
import type { CheckAnother, Pipeline, Task } from './pipeline.js';
import { storesOf } from './stores.js';

/** A pipeline holds its definition, the compiled templates, and what stands around them. */
const COMPILED = 3;

/** Puts together what the checks have proved sound. */
export function assemble(
  definition: PipelineDefinition,
  draft: Draft,
  waves: readonly (readonly string[])[],
  catalog: Catalog,
  warnings: readonly Problem[],
  checkAnother: CheckAnother,
): Pipeline {
  const waveOf = new Map(waves.flatMap((wave, index) => wave.map((id) => [id, index] as const)));
  const upstream = upstreamOf(draft);
  const tasks = draft.tasks.map((task, index): [string, Task] => {
    const declared = definition.tasks[index] as TaskDefinition;
    const order = { wave: waveOf.get(task.id) ?? 0, upstream: [...(upstream.get(task.id) ?? [])] };
    return [task.id, { ...taskOf(task, declared, catalog), ...order }];
  });
  return {
    definition,
    goal: draft.goal,
    tasks: new Map(tasks),
    waves,
    statistics: statisticsOf(
      definition,
      waves,
      storesOf(draft, waveOf).map(({ key }) => key),
    ),
    contract: contractOf(definition, draft),
    warnings,
    weight: COMPILED * weightOf(definition),
    checkAnother,
  };
}

function taskOf(
  task: DraftTask,
  declared: TaskDefinition,
  catalog: Catalog,
): Omit<Task, 'wave' | 'upstream'> {
  const tool = catalog.get(declared.tool);
  if (tool === undefined)
    throw new Error(`the tool "${declared.tool}" left the catalog while it was checked`);
  return {
    id: task.id,
    tool,
    inputs: task.inputs,
    over: task.over,
    retries: declared.retry ?? 0,
    timeoutMs: declared.timeout === undefined ? undefined : declared.timeout * 1000,
  };
}
