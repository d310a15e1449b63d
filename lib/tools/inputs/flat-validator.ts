import { BoundedSchema } from '../../common/json-schema/bounded-schema.js';
import { CheckBudget } from '../../common/json-schema/check-budget.js';
import { SchemaReview } from '../../common/json-schema/keywords.js';
import { MAX_MEMBERS_FOR_ALL_ERRORS, type Violation } from '../../common/json-schema/violation.js';
import { type Json, type JsonObject, setOwn } from '../../common/json/json.js';
import type { ToolInput, Tool } from '../tool.js';
import { type InputValidator, toSchema } from './schema-validator.js';

/** The catalog adds the names of a `registry` as `enum`; the tool itself checks a `format`. */
const FLAT_KEYWORDS = new Set(
  'description type required default enum minimum maximum minLength maxLength verbatim format registry'.split(
    ' ',
  ),
);

/** Authors of tools are trusted, and flat declarations take linear time. */
const TRUSTED = new CheckBudget(Number.POSITIVE_INFINITY);

interface Declared {
  readonly name: string;
  readonly fallback: Json | undefined;
  readonly isRequired: boolean;
  readonly schema: BoundedSchema;
}

/**
 * Returns true when {@link createFlatValidator} returns the same result for the declarations as their JSON Schema, but for
 * violations that follow from a wrong type. Most tools have only such declarations, and their runs start without loading a
 * schema compiler.
 */
export function areFlat(inputs: Readonly<Record<string, Partial<ToolInput>>>): boolean {
  const review = new SchemaReview(TRUSTED);
  for (const declaration of Object.values(inputs)) {
    if (!Object.keys(declaration).every((keyword) => FLAT_KEYWORDS.has(keyword))) return false;
    // A tool file may have anything there; the values of a text would be its letters.
    if (!Array.isArray(declaration.enum ?? [])) return false;
    const { nullable: _, ...schema } = toSchema(declaration);
    review.visit(schema, []);
  }
  return review.errors.length === 0;
}

/** Creates the validator of a tool with flat declarations: `createSchemaValidator` without a schema. */
export function createFlatValidator(tool: Tool): InputValidator {
  const declared = Object.entries(tool.inputs).map(([name, declaration]): Declared => {
    const schema = new BoundedSchema(toSchema(declaration), TRUSTED, Number.POSITIVE_INFINITY);
    return { name, fallback: declaration.default, isRequired: declaration.required === true, schema };
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
  for (const { name, fallback } of declared) {
    if (fallback === undefined || getOwn(inputs, name) !== undefined) continue;
    if (complete === inputs) complete = { ...inputs };
    setOwn(complete, name, typeof fallback === 'object' ? structuredClone(fallback) : fallback);
  }
  return complete;
}

function collectUnknown(names: ReadonlySet<string>, inputs: JsonObject, violations: Violation[]): void {
  const given = Object.keys(inputs);
  for (const name of given) {
    if (names.has(name)) continue;
    violations.push({ path: [], keyword: 'additionalProperties', wanted: name, value: inputs });
    if (given.length > MAX_MEMBERS_FOR_ALL_ERRORS) return;
  }
}

function collectDeclared(
  { name, fallback, isRequired, schema }: Declared,
  inputs: JsonObject,
  violations: Violation[],
): void {
  const value = getOwn(inputs, name);
  if (value === undefined) {
    if (isRequired) violations.push({ path: [], keyword: 'required', wanted: name, value: inputs });
  } else if (value !== null || fallback !== null) {
    for (const violation of schema.findViolations(value)) violations.push({ ...violation, path: [name] });
  }
}

function getOwn(inputs: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(inputs, name) ? inputs[name] : undefined;
}
