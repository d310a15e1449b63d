import type { Json } from '../../common/json.js';
import type { RegisteredSchema } from '../tool.js';
import { readFields } from './schema.js';

/**
 * Defines a schema that tasks load by its name with the tool `load_schema` (D49).
 *
 * @throws TypeError without a name; ToolError when a field is invalid
 */
export function defineSchema(declaration: {
  readonly name: string;
  readonly description: string;
  /** Names, or objects with `name` and perhaps `type`, `description`, `required` and so on. */
  readonly fields: readonly Json[];
}): RegisteredSchema {
  const { name, description, fields } = declaration;
  if (typeof name !== 'string' || name.trim() === '') throw new TypeError('a schema needs a name');
  readFields([...fields], `the schema "${name}"`);
  return { kind: 'schema', name, description, fields };
}
