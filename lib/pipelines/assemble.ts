import { estimateBytesInSteps } from '../common/json/json.js';
import { assertDefined, getOrThrow } from '../definition/assert.js';
import type { Problem } from '../definition/problems/problem.js';
import type { PipelineDefinition, TaskDefinition } from '../definition/schema/schema.js';
import type { Steps } from '../common/scheduling/steps.js';
import type { Catalog } from '../tools/catalog.js';
import { DroppableTemplates } from '../definition/template/droppable-templates.js';
import { verbatimInputs } from '../tools/inputs/literal-inputs.js';
import { deriveContract } from './contract.js';
import type { PipelineDraft } from './draft.js';
import type { CheckNestedPipeline, Pipeline, Task } from './pipeline.js';
import { listStores } from './rules/stores.js';
import { computeStatistics } from './statistics.js';

/** Measured memory of an empty pipeline, in bytes. */
const PIPELINE_BYTES = 4096;

/** Measured memory of a checked task, and of each task that it depends on, in bytes. */
const TASK_BYTES = 150;
const DEPENDENCY_BYTES = 8;

/** The parts of a pipeline that passed all checks. */
interface CheckedParts {
  readonly definition: PipelineDefinition;
  readonly draft: PipelineDraft;
  readonly waves: readonly (readonly string[])[];
  /** Inline pipelines of tasks, by task id. */
  readonly nested: ReadonlyMap<string, Pipeline>;
  readonly catalog: Catalog;
  readonly warnings: readonly Problem[];
  readonly checkNestedPipeline: CheckNestedPipeline;
}

export function* assemblePipeline(parts: CheckedParts): Steps<Pipeline> {
  const { definition, draft, waves, nested, catalog, warnings, checkNestedPipeline } = parts;
  const waveOf = new Map(waves.flatMap((wave, index) => wave.map((id) => [id, index] as const)));
  const tasks = new Map<string, Task>();
  const templates = new DroppableTemplates(draft.compiledBytes);
  let taskBytes = 0;
  for (const [index, task] of draft.tasks.entries()) {
    yield;
    const declared = definition.tasks[index] as TaskDefinition;
    const tool = assertDefined(catalog.get(declared.tool), `the tool "${declared.tool}"`);
    const upstream = [...getOrThrow(draft.upstream, task.id)];
    taskBytes += TASK_BYTES + DEPENDENCY_BYTES * upstream.length;
    tasks.set(task.id, {
      id: task.id,
      tool,
      inputs: templates.add(task.inputs, task.literalInputs, verbatimInputs(tool)),
      parallelOver: task.parallelOver && templates.add(task.parallelOver, task.parallelOverText ?? null),
      retries: declared.retry ?? 0,
      retryDelayMs: toMilliseconds(declared.retry_delay),
      maxRetryDelayMs: toMilliseconds(declared.max_retry_delay),
      fanOutConcurrency: declared.fan_out_concurrency,
      collectsErrors: declared.on_item_error === 'collect',
      timeoutMs: toMilliseconds(declared.timeout),
      cacheMs: toCacheTime(declared.cache),
      wave: getOrThrow(waveOf, task.id),
      upstream,
    });
  }
  const storeKeys = listStores(draft, waveOf).map(({ key }) => key);
  const statistics = computeStatistics(definition, waves, storeKeys);
  yield;
  const contract = deriveContract(definition, draft, nested);
  yield;
  const describedBytes = yield* estimateBytesInSteps([definition, warnings, [...contract.stores]]);
  return {
    definition,
    goal: draft.goal.renderer,
    tasks,
    waves,
    statistics,
    contract,
    warnings,
    templates,
    sizeBytes: PIPELINE_BYTES + describedBytes + taskBytes + templates.sizeBytes,
    checkNestedPipeline,
  };
}

function toCacheTime(cache: TaskDefinition['cache']): number | undefined {
  if (typeof cache !== 'object') return cache === true ? Number.POSITIVE_INFINITY : undefined;
  return toMilliseconds(cache.ttl) ?? Number.POSITIVE_INFINITY;
}

function toMilliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}
