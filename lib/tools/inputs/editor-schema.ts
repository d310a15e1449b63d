import { isObject, type Json, type JsonObject } from '../../common/json/json.js';
import type { ToolSchema } from '../../definition/schema/json-schema.js';
import type { Tool } from '../tool.js';
import { createInputSchema } from './schema-validator.js';

/** The keywords that mean the same in draft-07 and in 2020-12. A schema without the others accepts more. */
const KEPT = new Set(
  `title description default examples type enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
  minLength maxLength pattern items minItems maxItems properties required additionalProperties minProperties
  maxProperties allOf anyOf`.split(/\s+/),
);

/** A text with braces becomes another value when the task runs. */
const TEMPLATE: JsonObject = { title: 'template', type: 'string', pattern: '\\{\\{' };

/** Keywords that a template may violate, since they are about other values, or about the text itself. */
const ABOUT_VALUES = ['type', 'enum', 'const', 'pattern', 'minLength', 'maxLength', 'allOf', 'anyOf'];

/**
 * Describes the inputs of a tool for editors, as tasks have them: a template may stand in place of any value, at any
 * depth. Any value that can become valid when templates are resolved is accepted.
 */
export function createToolSchema(tool: Tool): ToolSchema {
  const { properties, required, additionalProperties } = tool.inputSchema ?? createInputSchema(tool);
  const inputs: JsonObject = {
    title: `inputs of ${tool.name}`,
    properties: mapMembers(properties, (schema, name) => {
      const description = tool.inputs[name]?.description ?? '';
      return { ...(description !== '' && { description }), ...(toEditorSchema(schema) as JsonObject) };
    }),
    additionalProperties: additionalProperties ?? true,
  };
  const needsInputs = Array.isArray(required) && required.length > 0;
  if (needsInputs) Object.assign(inputs, { type: 'object', required });
  return { name: tool.name, description: tool.description, inputs, needsInputs };
}

/** Converts a schema of JSON Schema 2020-12 to draft-07, and lets a template stand in place of the value. */
function toEditorSchema(schema: Json): Json {
  if (!isObject(schema)) return schema;
  const { title, description, default: fallback, ...constraints } = convertKeywords(schema);
  const annotations: JsonObject = {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
  };
  const isPlainText = constraints['type'] === 'string' && Object.keys(constraints).length === 1;
  if (isPlainText || !ABOUT_VALUES.some((keyword) => keyword in constraints))
    return { ...annotations, ...constraints };
  const nullable = schema['nullable'] === true ? [{ type: 'null' }] : [];
  return { ...annotations, anyOf: [constraints, ...nullable, TEMPLATE] };
}

function convertKeywords(schema: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const [keyword, operand] of Object.entries(schema))
    if (KEPT.has(keyword) && !isDropped(keyword, schema)) kept[keyword] = convertOperand(keyword, operand);
  return kept;
}

function isDropped(keyword: string, schema: JsonObject): boolean {
  // Beside keywords that draft-07 lacks, or that are dropped, `items` and `additionalProperties` mean something else.
  if (keyword === 'items') return 'prefixItems' in schema;
  if (keyword === 'additionalProperties') return 'patternProperties' in schema;
  // A template in a list or an object may make it equal to an allowed one.
  if (keyword === 'enum') return Array.isArray(schema[keyword]) && schema[keyword].some(isComposite);
  return keyword === 'const' && isComposite(schema[keyword]);
}

function isComposite(value: Json | undefined): boolean {
  return typeof value === 'object' && value !== null;
}

function convertOperand(keyword: string, operand: Json): Json {
  if (keyword === 'items' || keyword === 'additionalProperties') return toEditorSchema(operand);
  if (keyword === 'properties') return mapMembers(operand, toEditorSchema);
  const isList = (keyword === 'allOf' || keyword === 'anyOf') && Array.isArray(operand);
  return isList ? operand.map(toEditorSchema) : operand;
}

function mapMembers(value: Json | undefined, map: (member: Json, key: string) => Json): JsonObject {
  const members = isObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(members.map(([key, member]) => [key, map(member, key)]));
}
