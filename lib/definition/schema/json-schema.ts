import { PlanDefinition, SubPipelineDefinition } from './plan-schema.js';
import type { DefinitionKind } from './root.js';
import { PipelineDefinition } from './schema.js';

/** The dialect that editors support best; the keywords used here mean the same in all later ones. */
const DIALECT = 'http://json-schema.org/draft-07/schema#';

/** Creates the JSON Schema of a pipeline file: a definition under `pipeline`, or the bare definition (D3). */
export function pipelineJsonSchema(): Record<string, unknown> {
  const description =
    'Tasks that call tools, run in waves: under the key pipeline, or as the whole document.';
  return createSchema('pipeline', description, { pipeline: PipelineDefinition });
}

/**
 * Creates the JSON Schema of a plan file: a definition under `plan`, or the bare definition. It describes inline
 * pipelines too (D44).
 */
export function planJsonSchema(): Record<string, unknown> {
  const description =
    'Pipelines that pass values through the blackboard: under the key plan, or as the whole document.';
  return createSchema('plan', description, { plan: planWithPipelines(), pipeline: PipelineDefinition });
}

function createSchema(
  kind: DefinitionKind,
  description: string,
  definitions: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const reference = createRef(kind);
  const wrapped = {
    type: 'object',
    required: [kind],
    additionalProperties: false,
    properties: { [kind]: reference },
  };
  return {
    $schema: DIALECT,
    $id: `urn:wavetrain:schema:${kind}`,
    title: `Wavetrain ${kind}`,
    description,
    anyOf: [wrapped, reference],
    definitions,
  };
}

/** The validator checks inline pipelines separately; an editor has only the schema. */
function planWithPipelines(): Record<string, unknown> {
  const pipeline = createRef('pipeline');
  const items = {
    ...SubPipelineDefinition,
    properties: { ...SubPipelineDefinition.properties, pipeline },
  };
  const sub_pipelines = { ...PlanDefinition.properties.sub_pipelines, items };
  return { ...PlanDefinition, properties: { ...PlanDefinition.properties, sub_pipelines } };
}

function createRef(kind: DefinitionKind): Record<string, unknown> {
  return { $ref: `#/definitions/${kind}` };
}
