import type { PlanDefinition } from '../definition/schema/plan-schema.js';
import type { Problem } from '../definition/problem.js';
import { weightOf } from '../common/json.js';
import { entryOf } from '../pipelines/suggestions.js';
import type { Pipeline } from '../pipelines/pipeline.js';
import type { Upstream } from '../pipelines/waves.js';
import type { Plan, SubPipeline } from './plan.js';
import type { PlanStatistics } from './statistics.js';

/** Puts together what the checks have proved sound; undefined when a pipeline is not at hand. */
export function assemblePlan(
  definition: PlanDefinition,
  pipelines: ReadonlyMap<string, Pipeline>,
  needs: Upstream,
  statistics: PlanStatistics,
  warnings: readonly Problem[],
): Plan | undefined {
  const subPipelines = new Map<string, SubPipeline>();
  let weight = weightOf(definition);
  for (const { id, reads, stores, inputs } of definition.sub_pipelines) {
    const pipeline = pipelines.get(id);
    if (pipeline === undefined) return undefined;
    subPipelines.set(id, {
      id,
      pipeline,
      reads: unique(reads),
      stores: unique(stores),
      inputs: unique(inputs),
      needs: [...entryOf(needs, id)],
    });
    weight += pipeline.weight;
  }
  return { definition, subPipelines, statistics, warnings, weight };
}

function unique(keys: readonly string[] = []): string[] {
  return [...new Set(keys)];
}
