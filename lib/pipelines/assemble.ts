import { estimateBytesInSteps } from '../common/json.js';
import { assertDefined, getOrThrow } from '../definition/assert.js';
import type { Problem } from '../definition/problem.js';
import type { PipelineDefinition, TaskDefinition } from '../definition/schema/schema.js';
import type { Steps } from '../common/steps.js';
import type { Catalog } from '../tools/catalog.js';
import { deriveContract } from './contract.js';
import type { PipelineDraft } from './draft.js';
import type { CheckNestedPipeline, Pipeline, Task } from './pipeline.js';
import { listStores } from './rules/stores.js';
import { computeStatistics } from './statistics.js';

/** Memory of a pipeline relative to its definition: the definition, the compiled templates, and the objects around them. */
const MEMORY_FACTOR = 3;

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
  for (const [index, task] of draft.tasks.entries()) {
    yield;
    const declared = definition.tasks[index] as TaskDefinition;
    tasks.set(task.id, {
      id: task.id,
      tool: assertDefined(catalog.get(declared.tool), `the tool "${declared.tool}"`),
      inputs: task.inputs,
      parallelOver: task.parallelOver,
      retries: declared.retry ?? 0,
      retryDelayMs: toMilliseconds(declared.retry_delay),
      maxRetryDelayMs: toMilliseconds(declared.max_retry_delay),
      fanOutConcurrency: declared.fan_out_concurrency,
      collectsErrors: declared.on_item_error === 'collect',
      timeoutMs: toMilliseconds(declared.timeout),
      cacheMs: toCacheTime(declared.cache),
      wave: getOrThrow(waveOf, task.id),
      upstream: [...getOrThrow(draft.upstream, task.id)],
    });
  }
  const storeKeys = listStores(draft, waveOf).map(({ key }) => key);
  const statistics = computeStatistics(definition, waves, storeKeys);
  yield;
  const contract = deriveContract(definition, draft, nested);
  yield;
  const sizeBytes = MEMORY_FACTOR * (yield* estimateBytesInSteps(definition));
  return {
    definition,
    goal: draft.goal.renderer,
    tasks,
    waves,
    statistics,
    contract,
    warnings,
    sizeBytes,
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
