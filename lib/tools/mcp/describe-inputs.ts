import { isObject, type Json, type JsonObject } from '../../common/json/json.js';
import { MCP_LIMITS } from '../../common/limits.js';
import { ellipsize } from '../../common/text.js';
import type { ToolInput } from '../tool.js';

/** Replaces line breaks and control characters, and cuts what is long: it is shown in terminals and lists. */
export function cutDescription(text: string): string {
  const { descriptionLength } = MCP_LIMITS;
  const line = text.slice(0, 4 * descriptionLength).replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ');
  return ellipsize(line.trim(), descriptionLength);
}

const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object']);

/**
 * Describes the inputs of a tool one by one, for lists of tools: what their schemas say beside descriptions, types and
 * values is checked, but not listed.
 */
export function describeInputs(schema: JsonObject): Record<string, ToolInput> {
  const { properties, required } = schema;
  const names: readonly Json[] = Array.isArray(required) ? required : [];
  const inputs = Object.entries(isObject(properties) ? properties : {}).map(
    ([name, property]): [string, ToolInput] => [name, describeInput(property, names.includes(name))],
  );
  return Object.fromEntries(inputs);
}

function describeInput(property: Json, required: boolean): ToolInput {
  const { description, title, type, enum: values } = isObject(property) ? property : {};
  const text = [description, title].find((part) => typeof part === 'string' && part !== '');
  return {
    description: typeof text === 'string' ? text : '',
    ...(TYPES.has(type) && { type: type as NonNullable<ToolInput['type']> }),
    ...(Array.isArray(values) && { enum: values }),
    ...(required && { required }),
  };
}

/** Keywords that name inputs, wherever they stand. A server with inputs in them has not listed all in `properties`. */
const NAMES_INPUTS = /"(?:properties|patternProperties|propertyNames|\$ref|\$dynamicRef)":/;

/**
 * Returns true if a tool takes inputs that its schema does not name. A schema that names some, and says nothing of
 * others, would allow them; nearly always they are misspelt, and no server of this kind reads them. A tool takes others
 * when its schema names some elsewhere than in its properties, such as under `anyOf`, or as a pattern.
 *
 * @param schema as the server has it; not too large
 * @param bounded the same, with its references replaced
 */
export function takesOtherInputs(
  schema: Readonly<Record<string, unknown>>,
  { properties, additionalProperties }: JsonObject,
): boolean {
  if (additionalProperties !== undefined) return additionalProperties !== false;
  if (!isObject(properties) || Object.keys(properties).length === 0) return true;
  const { properties: _named, $defs: _defs, definitions: _definitions, ...others } = schema;
  return NAMES_INPUTS.test(JSON.stringify(others));
}
