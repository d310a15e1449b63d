import { type Problem, pointerOf } from '../../definition/problem.js';
import { Suggestions } from '../../pipelines/suggestions.js';
import { firstOfEach, type PlanDraft } from '../draft.js';
import type { GivenPipeline } from '../plan.js';

/** Pipelines given beside the plan that none of its sub-pipelines takes. */
export function superfluousPipelines(draft: PlanDraft, given: ReadonlyMap<string, GivenPipeline>): Problem[] {
  const byId = new Map(firstOfEach(draft).map((subPipeline) => [subPipeline.id, subPipeline]));
  const suggestions = new Suggestions();
  return [...given.keys()].flatMap((id): Problem[] => {
    const subPipeline = byId.get(id);
    if (subPipeline !== undefined && subPipeline.inline === undefined) return [];
    const message =
      subPipeline === undefined
        ? `a pipeline is given for "${id}", which is no sub-pipeline of the plan`
        : `the pipeline given for "${id}" is not used: the plan has one of its own`;
    const hint = subPipeline === undefined ? suggestions.hint(id, byId.keys()) : {};
    const path = pointerOf(['pipelines', id]);
    return [{ code: 'unknown_reference', message, path, severity: 'warning', ...hint }];
  });
}
