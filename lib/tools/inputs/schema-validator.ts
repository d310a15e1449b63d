import { errorMessage, WavetrainError } from '../../common/errors.js';
import { compileSchema, type Validator } from '../../common/json-schema/ajv.js';
import { BoundedSchema } from '../../common/json-schema/bounded-schema.js';
import { CheckBudget } from '../../common/json-schema/check-budget.js';
import { MAX_SENTENCES, takeViolations, type Violation } from '../../common/json-schema/violation.js';
import { type Json, type JsonObject, setOwn } from '../../common/json/json.js';
import type { ToolInput, Tool } from '../tool.js';
import { SCHEMA_KEYWORDS } from './check-declaration.js';

/** The inputs with their defaults filled in, and the violations of the tool's declarations. */
export interface ValidationResult {
  readonly inputs: JsonObject;
  readonly violations: readonly Violation[];
}

/** Fills in defaults and finds violations; does not change its argument. */
export type InputValidator = (inputs: JsonObject) => ValidationResult;

/**
 * Creates the validator of a tool from the JSON Schema of its declarations.
 *
 * @throws WavetrainError `bad_tool_file` when the declarations are not a valid JSON Schema
 */
export function createSchemaValidator(tool: Tool): InputValidator {
  const validate = compileDeclarations(tool);
  return (inputs) => {
    // Without a prototype, an input that is named like a member of Object is absent until it is set.
    const complete: JsonObject = Object.assign(Object.create(null), copyForDefaults(tool, inputs));
    const violations = validate(complete) ? [] : takeViolations(validate, complete);
    return { inputs: { ...complete }, violations };
  };
}

/**
 * Creates the validator of a tool from the schema of all its inputs, which comes from somebody who is not trusted: its
 * check takes bounded time. Inputs that would take longer pass, since the tool checks them too. Fills in no defaults.
 *
 * @param schema with none but the keywords that schemas of callers may have
 */
export function createBoundedValidator(schema: JsonObject): InputValidator {
  return (inputs) => {
    const budget = new CheckBudget();
    const violations = new BoundedSchema(schema, budget, MAX_SENTENCES).findViolations(inputs);
    return { inputs, violations: budget.isExceeded ? [] : violations };
  };
}

function compileDeclarations(tool: Tool): Validator {
  try {
    return compileSchema(createInputSchema(tool), { useDefaults: true });
  } catch (cause) {
    const message = `tool "${tool.name}" declares inputs that cannot be checked: ${errorMessage(cause)}`;
    throw new WavetrainError('bad_tool_file', message, { cause });
  }
}

/** Copies values that the validator would write defaults into, since they may be shared. */
function copyForDefaults(tool: Tool, inputs: JsonObject): JsonObject {
  const copy = { ...inputs };
  for (const [name, { items, properties }] of Object.entries(tool.inputs)) {
    const value = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
    const hasInnerDefault = JSON.stringify([items, properties]).includes('"default"');
    if (typeof value === 'object' && value !== null && hasInnerDefault)
      setOwn(copy, name, structuredClone(value));
  }
  return copy;
}

type Declaration = Partial<ToolInput>;

/** Creates the JSON Schema (2020-12) of all inputs of a tool. */
export function createInputSchema(tool: {
  readonly inputs: Readonly<Record<string, Declaration>>;
  readonly openInputs: boolean;
}): JsonObject {
  const declared = Object.entries(tool.inputs);
  return {
    type: 'object',
    properties: Object.fromEntries(declared.map(([name, declaration]) => [name, toSchema(declaration)])),
    required: declared.filter(([, { required }]) => required === true).map(([name]) => name),
    additionalProperties: tool.openInputs,
  };
}

export function toSchema(declaration: Declaration): JsonObject {
  const schema: JsonObject = {};
  for (const keyword of SCHEMA_KEYWORDS) {
    const value = declaration[keyword];
    if (value !== undefined) schema[keyword] = value as Json;
  }
  const values = allowedValues(declaration);
  if (values !== undefined) schema['enum'] = [...values];
  if (declaration.default === null && declaration.type !== undefined) schema['nullable'] = true;
  return schema;
}

/** Lists the values that an input may have; a default of null allows null. */
function allowedValues({ enum: values, default: fallback }: Declaration): readonly Json[] | undefined {
  return values === undefined || fallback !== null || values.includes(null) ? values : [...values, null];
}
