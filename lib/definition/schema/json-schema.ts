import { PlanDefinition, SubPipelineDefinition } from './plan-schema.js';
import type { DefinitionKind } from './root.js';
import { PipelineDefinition } from './schema.js';

/** The dialect that editors know best; what the definitions use means the same in all later ones. */
const DIALECT = 'http://json-schema.org/draft-07/schema#';

/**
 * The JSON Schema of a pipeline file: a definition under `pipeline`, or the bare definition (D3). Derived from the
 * one source of the definition.
 */
export function pipelineJsonSchema(): Record<string, unknown> {
  const description =
    'Tasks that call tools, run in waves: under the key pipeline, or as the whole document.';
  return schemaOf('pipeline', description, { pipeline: PipelineDefinition });
}

/** The JSON Schema of a plan file: a definition under `plan`, or the bare definition; pipelines in it are looked at too (D44). */
export function planJsonSchema(): Record<string, unknown> {
  const description =
    'Pipelines that pass values through the blackboard: under the key plan, or as the whole document.';
  return schemaOf('plan', description, { plan: planWithPipelines(), pipeline: PipelineDefinition });
}

function schemaOf(
  kind: DefinitionKind,
  description: string,
  definitions: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const reference = referenceTo(kind);
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

/** The validator leaves pipelines within a plan to their own check; an editor has only the schema. */
function planWithPipelines(): Record<string, unknown> {
  const pipeline = referenceTo('pipeline');
  const items = {
    ...SubPipelineDefinition,
    properties: { ...SubPipelineDefinition.properties, pipeline },
  };
  const sub_pipelines = { ...PlanDefinition.properties.sub_pipelines, items };
  return { ...PlanDefinition, properties: { ...PlanDefinition.properties, sub_pipelines } };
}

function referenceTo(kind: DefinitionKind): Record<string, unknown> {
  return { $ref: `#/definitions/${kind}` };
}
