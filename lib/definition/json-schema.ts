import { PipelineDefinition } from './schema.js';

/** The dialect that editors know best; what the definition uses means the same in all later ones. */
const DIALECT = 'http://json-schema.org/draft-07/schema#';

/**
 * The JSON Schema of a pipeline file: a definition under `pipeline`, or the bare definition (D3). Derived from the
 * one source of the definition.
 */
export function pipelineJsonSchema(): Record<string, unknown> {
  const reference = { $ref: '#/definitions/pipeline' };
  const wrapped = {
    type: 'object',
    required: ['pipeline'],
    additionalProperties: false,
    properties: { pipeline: reference },
  };
  return {
    $schema: DIALECT,
    $id: 'urn:wavetrain:schema:pipeline',
    title: 'Wavetrain pipeline',
    description: 'Tasks that call tools, run in waves: under the key pipeline, or as the whole document.',
    anyOf: [wrapped, reference],
    definitions: { pipeline: PipelineDefinition },
  };
}
