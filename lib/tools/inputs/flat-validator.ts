import { TYPE_TESTS } from '../../common/json-schema/value-tests.js';
import type { Violation } from '../../common/json-schema/violation.js';
import { type Json, type JsonObject, setOwn } from '../../common/json/json.js';
import type { ToolInput, Tool } from '../tool.js';
import { allowedValues, type InputValidator } from './schema-validator.js';

const FLAT_KEYWORDS = new Set([
  'description',
  'type',
  'required',
  'default',
  'enum',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'verbatim',
  // Checked in a pipeline as written, and by the tool itself when it runs.
  'format',
  // The catalog adds the names that there are as `enum`.
  'registry',
]);

interface Declared extends ToolInput {
  readonly name: string;
  readonly values: readonly Json[] | undefined;
}

/**
 * Returns true when {@link createFlatValidator} returns the same result for the declarations as their JSON Schema.
 * Most tools have only such declarations, and their runs start without loading a schema compiler.
 */
export function areFlat(inputs: Readonly<Record<string, Partial<ToolInput>>>): boolean {
  return Object.values(inputs).every(
    (declaration) =>
      Object.keys(declaration).every((keyword) => FLAT_KEYWORDS.has(keyword)) &&
      (declaration.type === undefined || Object.hasOwn(TYPE_TESTS, declaration.type)) &&
      (declaration.enum === undefined || isScalarList(declaration.enum)) &&
      [declaration.minimum, declaration.maximum, declaration.minLength, declaration.maxLength].every(
        isNumberOrUndefined,
      ),
  );
}

/** Creates the validator of a tool with flat declarations: `createSchemaValidator` without a schema. */
export function createFlatValidator(tool: Tool): InputValidator {
  const declared = Object.entries(tool.inputs).map(([name, declaration]): Declared => {
    return { ...declaration, name, values: allowedValues(declaration) };
  });
  const names = new Set(Object.keys(tool.inputs));
  return (inputs) => {
    const violations: Violation[] = [];
    const complete = withDefaults(declared, inputs);
    if (!tool.openInputs) collectUnknown(names, complete, violations);
    for (const declaration of declared) collectDeclared(declaration, complete, violations);
    return { inputs: complete, violations };
  };
}

function withDefaults(declared: readonly Declared[], inputs: JsonObject): JsonObject {
  let complete = inputs;
  for (const { name, default: fallback } of declared) {
    if (fallback === undefined || getOwn(inputs, name) !== undefined) continue;
    if (complete === inputs) complete = { ...inputs };
    setOwn(complete, name, typeof fallback === 'object' ? structuredClone(fallback) : fallback);
  }
  return complete;
}

function collectUnknown(names: ReadonlySet<string>, inputs: JsonObject, violations: Violation[]): void {
  for (const name of Object.keys(inputs)) {
    if (names.has(name)) continue;
    violations.push({ path: [], keyword: 'additionalProperties', wanted: name, value: inputs });
  }
}

function collectDeclared(declared: Declared, inputs: JsonObject, violations: Violation[]): void {
  const value = getOwn(inputs, declared.name);
  if (value !== undefined) collectValue(declared, value, violations);
  else if (declared.required === true) {
    violations.push({ path: [], keyword: 'required', wanted: declared.name, value: inputs });
  }
}

function collectValue(declared: Declared, value: Json, violations: Violation[]): void {
  const { name, type, values, minimum, maximum, minLength, maxLength } = declared;
  const found = (keyword: string, wanted: Json): void => {
    violations.push({ path: [name], keyword, wanted, value });
  };
  const mayBeNull = declared.default === null;
  if (type !== undefined && !TYPE_TESTS[type](value) && !(value === null && mayBeNull)) found('type', type);
  if (values !== undefined && !values.includes(value)) found('enum', [...values]);
  if (typeof value === 'number') {
    if (minimum !== undefined && value < minimum) found('minimum', minimum);
    if (maximum !== undefined && value > maximum) found('maximum', maximum);
  }
  if (typeof value === 'string' && minLength !== undefined && !hasLength(value, minLength)) {
    found('minLength', minLength);
  }
  if (typeof value === 'string' && maxLength !== undefined && hasLength(value, maxLength + 1)) {
    found('maxLength', maxLength);
  }
}

function getOwn(inputs: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(inputs, name) ? inputs[name] : undefined;
}

/** Counts code points, as JSON Schema does. */
function hasLength(text: string, minimum: number): boolean {
  if (text.length < minimum) return false;
  return text.length >= 2 * minimum || Array.from(text).length >= minimum;
}

function isScalarList(values: unknown): boolean {
  return (
    Array.isArray(values) &&
    values.length > 0 &&
    values.every((value) => value === null || ['string', 'number', 'boolean'].includes(typeof value))
  );
}

function isNumberOrUndefined(bound: unknown): boolean {
  return bound === undefined || Number.isFinite(bound);
}
