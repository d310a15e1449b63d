import { pipelineJsonSchema } from '../definition/schema/json-schema.js';

/** The JSON Schema of a pipeline file, as a file. */
export function pipelineSchemaText(): string {
  return `${JSON.stringify(pipelineJsonSchema(), null, 2)}\n`;
}
