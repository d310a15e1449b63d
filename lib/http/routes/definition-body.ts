import { WavetrainError } from '../../common/errors.js';
import type { JsonObject } from '../../common/json.js';
import type { Problem } from '../../definition/problem.js';
import type { DefinitionKind } from '../../definition/schema/root.js';
import type { Check } from '../../pipelines/check.js';
import { InvalidDefinitionError } from '../../pipelines/load.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { KnownPipelines } from '../../pipelines/validation-cache.js';
import { checkPlan, checkPlanDefinition, type PlanCheck, type PlanCheckOptions } from '../../plans/check.js';
import type { GivenPipeline, Plan } from '../../plans/plan.js';
import type { Catalog } from '../../tools/catalog.js';

/** A definition as it came. */
export type GivenDefinition = { readonly text: string } | { readonly value: Record<string, unknown> };

/** Reading YAML takes seconds for a megabyte, and holds everybody up; JSON does not. */
const YAML_LIMIT_BYTES = 256 * 1024;

/**
 * The one definition of a request: its body as YAML, or a part of its JSON (D33).
 *
 * @param value what the body has in the field of its `kind`
 * @throws WavetrainError `invalid_request` when there is none, or more than one
 */
export function definitionIn(
  kind: DefinitionKind,
  value: Record<string, unknown> | undefined,
  text: string | undefined,
): GivenDefinition {
  if (text !== undefined && value === undefined) return { text };
  if (text === undefined && value !== undefined) return { value };
  const message =
    text === undefined
      ? `field "${kind}" is missing: the definition goes there, or as text into "yaml"`
      : `give the definition once: as ${kind} or as yaml`;
  throw new WavetrainError('invalid_request', message);
}

/**
 * Texts of one request are read one after another: what counts is how long they are together.
 *
 * @throws WavetrainError `body_too_large`
 */
export function refuseLong(texts: readonly string[]): void {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length <= YAML_LIMIT_BYTES) return;
  const limit = `YAML may have ${YAML_LIMIT_BYTES / 1024} KiB here`;
  throw new WavetrainError(
    'body_too_large',
    texts.length > 1
      ? `${limit}, all texts together: send longer definitions as JSON`
      : `${limit}: send a longer definition as JSON`,
  );
}

/** The validator knows what it was given, and not where over HTTP that belongs. */
function withAddress(problems: readonly Problem[], wanted: DefinitionKind): readonly Problem[] {
  const isRoot = ({ path }: Problem): boolean => path === '' || path === `/${wanted}`;
  return problems.map((problem) =>
    problem.code === 'invalid_value' && isRoot(problem)
      ? { ...problem, hint: SEND_IT_THERE[wanted] }
      : problem,
  );
}

const SEND_IT_THERE: Readonly<Record<DefinitionKind, string>> = {
  pipeline: 'send it to /plans/run, /plans/run_async or /plans/validate',
  plan: 'send it to /pipelines/run, /pipelines/run_async or /pipelines/validate',
};

/** A pipeline as a request brings it. */
export interface PipelineRequest {
  readonly yaml: string | undefined;
  readonly body:
    | {
        readonly pipeline?: Record<string, unknown>;
        readonly yaml?: string;
        readonly inputs?: JsonObject;
        readonly session?: JsonObject;
      }
    | undefined;
}

/** Checks it. Throws `invalid_request` when there is none, or more than one, and `body_too_large` for long YAML. */
export function checkPipelineIn({ yaml, body = {} }: PipelineRequest, known: KnownPipelines): Check {
  const { inputs, session } = body;
  const given = definitionIn('pipeline', body.pipeline, yaml ?? body.yaml);
  if ('text' in given) refuseLong([given.text]);
  const check =
    'text' in given
      ? known.ofText(given.text, { inputs, session })
      : known.ofValue(given.value, { inputs, session });
  return check.ok ? check : { ...check, problems: withAddress(check.problems, 'pipeline') };
}

/** The pipeline that is to run. Throws an InvalidDefinitionError with every problem. */
export function pipelineIn(request: PipelineRequest, known: KnownPipelines): Pipeline {
  const check = checkPipelineIn(request, known);
  if (!check.ok) throw new InvalidDefinitionError(check.problems);
  return check.pipeline;
}

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
