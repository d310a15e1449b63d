import type { Static } from 'typebox';
import { WavetrainError } from '../../common/errors.js';
import type { Steps } from '../../common/steps.js';
import { MAX_YAML_LENGTH } from '../../common/limits.js';
import type { Problem } from '../../definition/problem.js';
import type { DefinitionKind } from '../../definition/schema/root.js';
import { type CheckSteps, readInput } from '../../definition/check-steps.js';
import type { DefinitionInput, Source } from '../../definition/text/source.js';
import { pipelineNotFound } from '../../library/read-definition.js';
import { InvalidDefinitionError } from '../../pipelines/load.js';
import type { CheckResult, Pipeline } from '../../pipelines/pipeline.js';
import { checkPlanSourceInSteps, type PlanCheckOptions, type PlanCheckResult } from '../../plans/check.js';
import type { PipelineInput, Plan } from '../../plans/plan.js';
import type { DefinitionRequestSchema, PlanRequestSchema } from '../schemas/request.js';
import type { HttpServices } from '../services.js';

/** What checks definitions. */
type DefinitionServices = Pick<HttpServices, 'registry' | 'catalog' | 'pipelines' | 'library'>;

/** A definition that a caller sends, or that has passed the checks in an earlier process. */
interface Checked {
  /** As in the options of a check. Default: false. */
  readonly isChecked?: boolean;
}

/** The parts of a request that hold a pipeline. */
interface PipelineRequest extends Checked {
  readonly yaml: string | undefined;
  readonly body: Static<typeof DefinitionRequestSchema> | undefined;
}

/** The pipeline of a request. Rejects with an InvalidDefinitionError with every problem. */
export async function readPipeline(
  request: PipelineRequest,
  services: DefinitionServices,
  tenantId: string,
): Promise<Pipeline> {
  const check = await checkPipelineRequest(request, services, tenantId);
  if (!check.ok) throw new InvalidDefinitionError(check.problems);
  return check.pipeline;
}

/**
 * Validates the pipeline of a request, in turns with the requests of other tenants (D25). Rejects with
 * `invalid_request` unless there is exactly one definition, and with `body_too_large` for long YAML.
 */
export async function checkPipelineRequest(
  { yaml, body = {}, isChecked }: PipelineRequest,
  { registry, pipelines }: DefinitionServices,
  tenantId: string,
): Promise<CheckResult> {
  const { inputs, session } = body;
  const definition = pickDefinition('pipeline', body.pipeline, yaml ?? body.yaml);
  if ('text' in definition) assertShortYaml([definition.text]);
  const steps = pipelines.check(definition, { inputs, session }, isChecked);
  const check = await registry.stepRunner.check(steps, tenantId);
  return check.ok ? check : { ...check, problems: addHints(check.problems, 'pipeline', definition) };
}

/** The parts of a request that hold a plan, and the pipelines that are not part of it. */
interface PlanRequest extends Checked {
  readonly yaml: string | undefined;
  readonly body: Static<typeof PlanRequestSchema> | undefined;
}

/** The plan of a request. Rejects with an InvalidDefinitionError with every problem. */
export async function readPlan(
  request: PlanRequest,
  services: DefinitionServices,
  tenantId: string,
): Promise<Plan> {
  const check = await checkPlanRequest(request, services, tenantId, true);
  if (!check.ok || check.plan === undefined) throw new InvalidDefinitionError(check.problems);
  return check.plan;
}

/**
 * Validates the plan of a request, as `checkPipelineRequest` validates a pipeline. Reads no file: a pipeline that the
 * request lacks is missing (D33), or one of the folder when the request says `beside` (D69). Rejects with
 * `pipeline_not_found` when that is none of the tenant.
 *
 * @param complete whether a missing pipeline is an error, as for a run
 */
export async function checkPlanRequest(
  { yaml, body = {}, isChecked }: PlanRequest,
  services: DefinitionServices,
  tenantId: string,
  complete: boolean,
): Promise<PlanCheckResult> {
  const { registry, catalog } = services;
  const { inputs, session, beside } = body;
  const definition = pickDefinition('plan', body.plan, yaml ?? body.yaml);
  const pipelines = Object.entries(body.pipelines ?? {}).filter(([, pipeline]) => pipeline !== null);
  assertShortYaml([
    ...('text' in definition ? [definition.text] : []),
    ...pipelines.flatMap(([, pipeline]) => (typeof pipeline === 'string' ? [pipeline] : [])),
  ]);
  const sent = pipelines.map(([id, pipeline]): [string, PipelineInput] => [
    id,
    typeof pipeline === 'string' ? { text: pipeline } : { value: pipeline },
  ]);
  const findOthers = beside === undefined ? undefined : await findInFolder(beside, services, tenantId);
  const options = { catalog, complete, isChecked, ...(inputs && { inputs }), ...(session && { session }) };
  const check = await registry.stepRunner.check(checkParts(definition, sent, findOthers, options), tenantId);
  if (beside !== undefined) return check;
  const problems = check.problems.map((problem) =>
    problem.code === 'missing_pipeline' ? { ...problem, hint: SEND_PIPELINE } : problem,
  );
  return { ...check, problems: check.ok ? problems : addHints(problems, 'plan', definition) };
}

/** Finds the pipelines of a plan that are neither part of it nor of the request. */
type FindPipelines = (plan: Source) => Steps<ReadonlyMap<string, PipelineInput>>;

async function findInFolder(
  id: string,
  { library: folder }: DefinitionServices,
  tenantId: string,
): Promise<FindPipelines> {
  if (folder === undefined) throw pipelineNotFound(id);
  const { library } = folder;
  const entry = await library.entry(tenantId, id);
  return (plan) => library.pipelinesOf(entry, plan);
}

function* checkParts(
  definition: DefinitionInput,
  sent: readonly [string, PipelineInput][],
  findOthers: FindPipelines | undefined,
  options: PlanCheckOptions,
): CheckSteps<PlanCheckResult> {
  const plan = yield* readInput(definition);
  const others = findOthers === undefined ? [] : yield* findOthers(plan);
  const pipelines = new Map([...others, ...sent]);
  return yield* checkPlanSourceInSteps(plan, { ...options, pipelines });
}

/**
 * Picks the definition of a request: its text, or the field of its JSON body that is named after the `kind` (D33).
 *
 * @param value any JSON: the check rejects what is no map (D56)
 * @throws WavetrainError `invalid_request` unless there is exactly one
 */
function pickDefinition(kind: DefinitionKind, value: unknown, text: string | undefined): DefinitionInput {
  if (text !== undefined && (value === undefined || value === null)) return { text };
  if (text === undefined && value !== undefined) return { value };
  const message =
    text === undefined
      ? `the definition is missing: send it in field "${kind}", or as text in field "yaml"`
      : `the request has two definitions: send either "${kind}" or "yaml"`;
  throw new WavetrainError('invalid_request', message);
}

/**
 * Limits all texts of a request together, because they are parsed one after another.
 *
 * @throws WavetrainError `body_too_large`
 */
function assertShortYaml(texts: readonly string[]): void {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length <= MAX_YAML_LENGTH) return;
  const limit = `the limit for YAML is ${MAX_YAML_LENGTH / 1024} KiB`;
  throw new WavetrainError(
    'body_too_large',
    texts.length > 1
      ? `${limit} for all texts together: send longer definitions as JSON`
      : `${limit}: send a longer definition as JSON`,
  );
}

const SEND_PIPELINE =
  'send it in "pipelines" under that id, or define it in the plan: the server does not read the files that a plan names';

const SEND_ELSEWHERE: Readonly<Record<DefinitionKind, string>> = {
  pipeline: 'send it to /plans/run, /plans/run_async or /plans/validate',
  plan: 'send it to /pipelines/run, /pipelines/run_async or /pipelines/validate',
};

/** Adds what the validator does not know: where to send a definition of the other kind, or a text. */
function addHints(
  problems: readonly Problem[],
  expected: DefinitionKind,
  definition: DefinitionInput,
): readonly Problem[] {
  const isText = 'value' in definition && typeof definition.value === 'string';
  const isRoot = ({ path }: Problem): boolean => path === '' || path === `/${expected}`;
  return problems.map((problem) => {
    if (!isRoot(problem)) return problem;
    if (isText) return { ...problem, hint: 'send text in field "yaml"' };
    return problem.code === 'invalid_value' ? { ...problem, hint: SEND_ELSEWHERE[expected] } : problem;
  });
}
