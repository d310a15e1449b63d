import { planJsonSchema } from '../definition/schema/json-schema.js';

/** The JSON Schema of a plan file, as a file. */
export function planSchemaText(): string {
  return `${JSON.stringify(planJsonSchema(), null, 2)}\n`;
}
