import { pipelineJsonSchema, planJsonSchema } from '../../definition/schema/json-schema.js';

/** The content of a JSON Schema file for pipelines. */
export function pipelineSchemaText(): string {
  return `${JSON.stringify(pipelineJsonSchema(), null, 2)}\n`;
}

/** The content of a JSON Schema file for plans. */
export function planSchemaText(): string {
  return `${JSON.stringify(planJsonSchema(), null, 2)}\n`;
}
