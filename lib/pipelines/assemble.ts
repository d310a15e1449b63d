import { weightOf } from '../common/json.js';
import type { Problem } from '../definition/problem.js';
import type { PipelineDefinition, TaskDefinition } from '../definition/schema/schema.js';
import type { Catalog } from '../tools/catalog.js';
import { contractOf } from './contract.js';
import type { Draft, DraftTask } from './draft.js';
import type { CheckAnother, Pipeline, Task } from './pipeline.js';
import { storesOf } from './rules/stores.js';
import { certain, entryOf } from './suggestions.js';
import { statisticsOf, type Upstream } from './waves.js';

/** A pipeline holds its definition, the compiled templates, and what stands around them. */
const COMPILED = 3;

/** What the checks have proved sound. */
interface Proved {
  readonly definition: PipelineDefinition;
  readonly draft: Draft;
  readonly waves: readonly (readonly string[])[];
  /** Pipelines that stand within tasks, by the id of the task. */
  readonly nested: ReadonlyMap<string, Pipeline>;
  readonly catalog: Catalog;
  readonly warnings: readonly Problem[];
  readonly checkAnother: CheckAnother;
}

/** Puts it together. */
export function assemble(proved: Proved): Pipeline {
  const { definition, draft, waves, nested, catalog, warnings, checkAnother } = proved;
  const waveOf = new Map(waves.flatMap((wave, index) => wave.map((id) => [id, index] as const)));
  const upstream = upstreamOf(draft);
  const tasks = draft.tasks.map((task, index): [string, Task] => {
    const declared = definition.tasks[index] as TaskDefinition;
    const order = { wave: entryOf(waveOf, task.id), upstream: [...entryOf(upstream, task.id)] };
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
    contract: contractOf(definition, draft, nested),
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
  return {
    id: task.id,
    tool: certain(catalog.get(declared.tool), `the tool "${declared.tool}"`),
    inputs: task.inputs,
    over: task.over,
    retries: declared.retry ?? 0,
    timeoutMs: declared.timeout === undefined ? undefined : declared.timeout * 1000,
  };
}

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
