import type { Json, JsonObject } from '../../common/json.js';
import type { InputDeclaration } from '../tool.js';

/** The words of a declaration that JSON Schema knows as well, and that are taken over as they are. */
export const SAME_WORDS = [
  'type',
  'default',
  'minimum',
  'maximum',
  'minLength',
  'pattern',
  'items',
  'properties',
] as const;

type Declaration = Partial<InputDeclaration>;

/** The JSON Schema (2020-12) of everything that a tool is given. */
export function inputSchemaOf(tool: {
  readonly inputs: Readonly<Record<string, Declaration>>;
  readonly openInputs: boolean;
}): JsonObject {
  const declared = Object.entries(tool.inputs);
  return {
    type: 'object',
    properties: Object.fromEntries(declared.map(([name, declaration]) => [name, schemaOf(declaration)])),
    required: declared.filter(([, { required }]) => required === true).map(([name]) => name),
    additionalProperties: tool.openInputs,
  };
}

/** The values that an input may have, null among them when that is its default. */
export function allowedValues({ enum: values, default: fallback }: Declaration): readonly Json[] | undefined {
  return values === undefined || fallback !== null || values.includes(null) ? values : [...values, null];
}

function schemaOf(declaration: Declaration): JsonObject {
  const schema: JsonObject = {};
  for (const word of SAME_WORDS) {
    const value = declaration[word];
    if (value !== undefined) schema[word] = value;
  }
  const values = allowedValues(declaration);
  if (values !== undefined) schema['enum'] = [...values];
  if (declaration.default === null && declaration.type !== undefined) schema['nullable'] = true;
  return schema;
}
