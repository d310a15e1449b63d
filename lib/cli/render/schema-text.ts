import { pipelineJsonSchema, planJsonSchema } from '../../definition/schema/json-schema.js';

/** The JSON Schema of a pipeline file, as a file. */
export function pipelineSchemaText(): string {
  return `${JSON.stringify(pipelineJsonSchema(), null, 2)}\n`;
}

/** The JSON Schema of a plan file, as a file. */
export function planSchemaText(): string {
  return `${JSON.stringify(planJsonSchema(), null, 2)}\n`;
}
