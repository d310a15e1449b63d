import type { JsonObject } from '../../common/json/json.js';
import type { Steps } from '../../common/scheduling/steps.js';
import type { PlanInputs, RunInputs } from '../../execution/prepare/run-inputs.js';
import type { ReadableRun } from '../../execution/run/readable-run.js';

export type DefinitionOfRun = Pick<RunInputs, 'pipeline'> | Pick<PlanInputs, 'plan'>;

export function definitionOf({ prepared }: ReadableRun): DefinitionOfRun {
  return 'plan' in prepared ? { plan: prepared.plan } : { pipeline: prepared.pipeline };
}

const PARTS_PER_STEP = 200;

/** The definition in one piece: the pipelines of a plan that came from elsewhere are put in their places. Secrets are not masked. */
export function* wholeDefinition(checked: DefinitionOfRun): Steps<JsonObject> {
  if (!('plan' in checked)) return checked.pipeline.definition as unknown as JsonObject;
  const { definition, subPipelines } = checked.plan;
  const parts: object[] = [];
  for (const { file: _, ...part } of definition.sub_pipelines) {
    parts.push({ ...part, pipeline: subPipelines.get(part.id)?.pipeline.definition });
    if (parts.length % PARTS_PER_STEP === 0) yield;
  }
  return { ...definition, sub_pipelines: parts } as unknown as JsonObject;
}
