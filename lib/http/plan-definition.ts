import type { Problem } from '../definition/problem.js';
import type { JsonObject } from '../common/json.js';
import { InvalidDefinitionError } from '../pipelines/invalid-definition.js';
import { checkPlan, checkPlanDefinition, type PlanCheck, type PlanCheckOptions } from '../plans/check.js';
import type { GivenPipeline } from '../plans/given-pipeline.js';
import type { Plan } from '../plans/plan.js';
import type { Catalog } from '../tools/catalog.js';
import { definitionIn, refuseLong, withAddress } from './given-definition.js';

/** A plan as a request brings it, with the pipelines that do not stand in it. */
export interface PlanRequest {
  readonly yaml: string | undefined;
  readonly body:
    | {
        readonly plan?: Record<string, unknown>;
        readonly yaml?: string;
        readonly pipelines?: Readonly<Record<string, string | Record<string, unknown>>>;
        readonly inputs?: JsonObject;
        readonly session?: JsonObject;
      }
    | undefined;
}

/**
 * Checks it, and reads no file: a pipeline is in the request, or it is missing (D33). Throws `invalid_request` when
 * there is no plan, or more than one, and `body_too_large` for long YAML.
 *
 * @param complete no pipeline may be missing, as for a run
 */
export function checkPlanIn(
  { yaml, body = {} }: PlanRequest,
  catalog: Catalog,
  complete: boolean,
): PlanCheck {
  const { inputs, session } = body;
  const given = definitionIn('plan', body.plan, yaml ?? body.yaml);
  const pipelines = Object.entries(body.pipelines ?? {});
  refuseLong([
    ...('text' in given ? [given.text] : []),
    ...pipelines.flatMap(([, pipeline]) => (typeof pipeline === 'string' ? [pipeline] : [])),
  ]);
  const options: PlanCheckOptions = {
    catalog,
    complete,
    pipelines: new Map(pipelines.map(([id, pipeline]) => [id, givenPipeline(pipeline)])),
    ...(inputs && { inputs }),
    ...(session && { session }),
  };
  const check = 'text' in given ? checkPlan(given.text, options) : checkPlanDefinition(given.value, options);
  const problems = check.problems.map(withPlaceForPipelines);
  return { ...check, problems: check.ok ? problems : withAddress(problems, 'plan') };
}

/** The plan that is to run. Throws an InvalidDefinitionError with every problem. */
export function planIn(request: PlanRequest, catalog: Catalog): Plan {
  const check = checkPlanIn(request, catalog, true);
  if (!check.ok || check.plan === undefined) throw new InvalidDefinitionError(check.problems);
  return check.plan;
}

function givenPipeline(pipeline: string | Record<string, unknown>): GivenPipeline {
  return typeof pipeline === 'string' ? { text: pipeline } : { value: pipeline };
}

/** A file would be at hand elsewhere. */
function withPlaceForPipelines(problem: Problem): Problem {
  if (problem.code !== 'missing_pipeline') return problem;
  const hint =
    'send it in "pipelines" under that id, or write it in the plan: the server reads none of the files that a plan names';
  return { ...problem, hint };
}
