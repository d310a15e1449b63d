import type { PipelineInput } from '../plans/plan.js';
import type { ReviveDefinition } from '../runs/run-factory.js';
import type { DefinitionChecker } from './definition-checker.js';
import type { DefinitionSource } from './submission.js';

/** Checks the definitions of runs of the store again, with the tools that there are now (D68). */
export function reviveWith(checker: DefinitionChecker): ReviveDefinition {
  return (
    { kind, definition, pipelines = {} },
    { tenant_id: tenantId, hasSettled, isChecked, ...values },
  ) => {
    const source: DefinitionSource =
      kind === 'plan'
        ? { kind, definition: { value: definition }, pipelines: toInputs(pipelines), isChecked }
        : { kind, definition: { value: definition }, isChecked };
    return hasSettled
      ? checker.loadSettled(source, values, tenantId)
      : checker.load(source, values, tenantId);
  };
}

/** The pipelines of a plan as inputs of its check, by sub-pipeline id. */
export function toInputs(pipelines: Readonly<Record<string, unknown>>): ReadonlyMap<string, PipelineInput> {
  return new Map(Object.entries(pipelines).map(([id, value]) => [id, { value }]));
}
