import type { Static } from 'typebox';
import { WavetrainError } from '../../common/errors.js';
import { MAX_YAML_LENGTH } from '../../common/limits.js';
import type { Problem } from '../../definition/problems/problem.js';
import type { DefinitionKind } from '../../definition/schema/root.js';
import type { DefinitionInput } from '../../definition/text/source.js';
import { pipelineNotFound } from '../../library/read-definition.js';
import type { PipelineInput } from '../../plans/plan.js';
import type { PipelineSource, PlanSource } from '../../submission/definition-checker.js';
import type { DefinitionRequestSchema, PlanRequestSchema } from '../schemas/request.js';
import type { HttpServices } from '../services.js';

/** A request whose body is YAML, or JSON of a schema. */
interface DefinitionRequest<B> {
  readonly yaml: string | undefined;
  readonly body: B | undefined;
}

/**
 * Reads the pipeline of a request.
 *
 * @throws WavetrainError `invalid_request` unless there is exactly one definition, and `body_too_large` for long YAML
 */
export function readPipelineSource({
  yaml,
  body = {},
}: DefinitionRequest<Pick<Static<typeof DefinitionRequestSchema>, 'pipeline' | 'yaml'>>): PipelineSource {
  const definition = pickDefinition('pipeline', body.pipeline, yaml ?? body.yaml);
  if ('text' in definition) assertShortYaml([definition.text]);
  return {
    kind: 'pipeline',
    definition,
    addHints: (problems) => addRootHints(problems, 'pipeline', definition),
  };
}

/**
 * Reads the plan of a request, and the pipelines beside it. Reads no file: a pipeline that the request lacks is missing
 * (D33), or one of the folder when the request says `beside` (D69). Rejects as `readPipelineSource` throws, and with
 * `pipeline_not_found` when that is none of the tenant.
 */
export async function readPlanSource(
  {
    yaml,
    body = {},
  }: DefinitionRequest<Pick<Static<typeof PlanRequestSchema>, 'plan' | 'yaml' | 'pipelines' | 'beside'>>,
  services: Pick<HttpServices, 'library'>,
  tenantId: string,
): Promise<PlanSource> {
  const { beside } = body;
  const definition = pickDefinition('plan', body.plan, yaml ?? body.yaml);
  const sent = Object.entries(body.pipelines ?? {}).filter(([, pipeline]) => pipeline !== null);
  assertShortYaml([
    ...('text' in definition ? [definition.text] : []),
    ...sent.flatMap(([, pipeline]) => (typeof pipeline === 'string' ? [pipeline] : [])),
  ]);
  const pipelines = new Map<string, PipelineInput>(
    sent.map(([id, value]) => [id, typeof value === 'string' ? { text: value } : { value }]),
  );
  if (beside !== undefined) {
    return {
      kind: 'plan',
      definition,
      pipelines,
      findPipelines: await findBeside(beside, services, tenantId),
    };
  }
  const addHints = (problems: readonly Problem[]): readonly Problem[] =>
    addRootHints(problems.map(hintMissingPipeline), 'plan', definition);
  return { kind: 'plan', definition, pipelines, addHints };
}

/** Finds the pipelines of a plan among the files of the folder, as those of the plan with this id. */
async function findBeside(
  id: string,
  { library: folder }: Pick<HttpServices, 'library'>,
  tenantId: string,
): Promise<PlanSource['findPipelines']> {
  if (folder === undefined) throw pipelineNotFound(id);
  const { library } = folder;
  const entry = await library.entry(tenantId, id);
  return (plan) => library.pipelinesOf(entry, plan);
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

function hintMissingPipeline(problem: Problem): Problem {
  return problem.code === 'missing_pipeline' ? { ...problem, hint: SEND_PIPELINE } : problem;
}

const SEND_ELSEWHERE: Readonly<Record<DefinitionKind, string>> = {
  pipeline: 'send it to /plans/run, /plans/run_async or /plans/validate',
  plan: 'send it to /pipelines/run, /pipelines/run_async or /pipelines/validate',
};

/** Says where to send a definition of the other kind, or a text. */
function addRootHints(
  problems: readonly Problem[],
  expected: DefinitionKind,
  definition: DefinitionInput,
): readonly Problem[] {
  const isText = 'value' in definition && typeof definition.value === 'string';
  return problems.map((problem) => {
    const isRoot = problem.path === '' || problem.path === `/${expected}`;
    if (!isRoot || problem.severity !== 'error') return problem;
    if (isText) return { ...problem, hint: 'send text in field "yaml"' };
    return problem.code === 'invalid_value' ? { ...problem, hint: SEND_ELSEWHERE[expected] } : problem;
  });
}
