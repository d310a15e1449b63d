import { ToolError } from '../../../../common/errors.js';
import { BoundedSchema } from '../../../../common/json-schema/bounded-schema.js';
import { CheckBudget, TOO_MANY_STEPS } from '../../../../common/json-schema/check-budget.js';
import { SchemaReview, withArrayTypes } from '../../../../common/json-schema/keywords.js';
import {
  describeFirstViolations,
  formatValuePath,
  MAX_SENTENCES,
} from '../../../../common/json-schema/violation.js';
import { describeKind, isObject, type Json, type JsonObject, setOwn } from '../../../../common/json/json.js';
import { joinFirst } from '../../../../common/text.js';
import { coerce } from '../../../../definition/params.js';
import { FIELD_NOT_FOUND, readFields, type SchemaField } from '../../../schemas/schema.js';
import type { Reading } from '../../../answers/json-answer.js';

/** The values that a document is read for. */
export interface WantedFields {
  readonly names: readonly string[];
  readonly explanation: string;
  /** The JSON Schema of each field, for providers that hold a model to it. */
  readonly schemas: Readonly<Record<string, JsonObject>>;
  /**
   * Reads the fields of an answer: exactly those that are wanted, and {@link FIELD_NOT_FOUND} for what is null or missing.
   * An answer with values of other types, or with none of the fields but others, is wrong.
   */
  readonly read: (answer: Json) => Reading<JsonObject>;
}

/**
 * Reads what `load_schema` gives, or a JSON Schema with `properties`.
 *
 * @throws ToolError, not retryable, when the schema is none
 */
export function readWantedFields(schema: Json, section: string | null): WantedFields {
  if (typeof schema === 'string')
    throw ToolError.nonRetryable(
      '"schema" is a text: write a list of names, or load it with load_schema, and pass its output',
    );
  if (isJsonSchema(schema)) return section === null ? fromJsonSchema(schema) : fromFields([]);
  const fields = readFields(schema, '"schema"');
  return fromFields(section === null ? fields : fields.filter((field) => isIn(field, section)));
}

/** Returns true if the fields are the properties of a JSON Schema. */
export function isJsonSchema(schema: Json): schema is JsonObject & { properties: Record<string, Json> } {
  return isObject(schema) && isObject(schema['properties']) && !Array.isArray(schema['fields']);
}

function isIn({ section }: SchemaField, wanted: string): boolean {
  return section?.trim().toLowerCase() === wanted.trim().toLowerCase();
}

function fromFields(fields: readonly SchemaField[]): WantedFields {
  const byName = new Map(fields.map((field) => [field.name, field]));
  return {
    names: [...byName.keys()],
    explanation: `The fields:\n${[...byName.values()].map(explainField).join('\n')}`,
    schemas: toObject([...byName].map(([name, { type_hint: hint }]) => [name, schemaOfHint(hint)])),
    read: (answer) => readEach(answer, [...byName.keys()], (name, value) => readHinted(byName, name, value)),
  };
}

function explainField(field: SchemaField): string {
  const details = [
    field.type_hint ?? '',
    field.description ?? '',
    labelled('section', field.section),
    labelled('sign', field.sign_convention),
    labelled('formula', field.formula),
    labelled('otherwise', field.fallback_rule),
  ].filter((detail) => detail !== '');
  return `- ${JSON.stringify(field.name)}${details.length === 0 ? '' : `: ${details.join('; ')}`}`;
}

function labelled(label: string, text: string | null): string {
  return text === null || text === '' ? '' : `${label}: ${text}`;
}

/** The types that a hint can name; any other hint is words for the model. */
export const HINTED_TYPES = {
  string: 'string',
  text: 'string',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
  list: 'list',
  array: 'list',
  object: 'object',
} as const;

function typeOfHint(hint: string | null): (typeof HINTED_TYPES)[keyof typeof HINTED_TYPES] | undefined {
  const name = hint?.trim().toLowerCase() ?? '';
  return Object.hasOwn(HINTED_TYPES, name) ? HINTED_TYPES[name as keyof typeof HINTED_TYPES] : undefined;
}

function schemaOfHint(hint: string | null): JsonObject {
  const type = typeOfHint(hint);
  if (type === 'list' || type === 'object' || /list|array|object|table/i.test(hint ?? '')) return {};
  return { type: type === undefined ? ['string', 'number', 'boolean', 'null'] : [type, 'null'] };
}

/** Converts a value if nothing is lost, such as "12" for a number. */
function readHinted(fields: ReadonlyMap<string, SchemaField>, name: string, value: Json): Reading<Json> {
  const type = typeOfHint(fields.get(name)?.type_hint ?? null);
  const coerced = type === undefined ? { ok: true as const, value } : coerce(value, type);
  if (coerced.ok) return coerced;
  return {
    ok: false,
    problems: [`field ${JSON.stringify(name)} must be ${coerced.expected}, not ${show(value)}`],
  };
}

const MAX_SHOWN = 60;

function show(value: Json): string {
  const text = typeof value === 'object' ? '' : JSON.stringify(value);
  return text !== '' && text.length <= MAX_SHOWN ? text : describeKind(value);
}

function fromJsonSchema(written: { readonly properties: Record<string, Json> }): WantedFields {
  assertAllowed(written.properties);
  const { properties } = withArrayTypes({ properties: written.properties });
  const names = Object.keys(properties);
  const explanation = `The fields, as JSON Schema:\n${JSON.stringify(properties)}`;
  const schemas = names.map((name): [string, JsonObject] => {
    const own = properties[name];
    return [name, isObject(own) ? { anyOf: [own, { type: 'null' }] } : {}];
  });
  return {
    names,
    explanation,
    schemas: toObject(schemas),
    read: (answer) => {
      const reading = readEach(answer, names, (_, value) => ({ ok: true, value }));
      return reading.ok ? checkFields(reading.value, properties) : reading;
    },
  };
}

/** More schemas in a schema are no fields. */
const MAX_SCHEMAS = 1000;

/** @throws ToolError, not retryable, that names the first keyword that is wrong or not allowed (D4) */
function assertAllowed(properties: Readonly<Record<string, Json>>): void {
  const review = findSchemaErrors(properties);
  if (review.hasTooManySchemas)
    throw ToolError.nonRetryable(`"schema" has more than ${MAX_SCHEMAS} schemas in it: ask for fewer fields`);
  const [error] = review.errors;
  if (error === undefined) return;
  throw ToolError.nonRetryable(
    `"schema" cannot be used: "${formatValuePath(error.path)}" ${error.message}; the keywords are those of params`,
  );
}

export function findSchemaErrors(properties: Readonly<Record<string, Json>>): SchemaReview {
  const review = new SchemaReview(new CheckBudget(), MAX_SCHEMAS);
  for (const [name, schema] of Object.entries(properties)) review.visit(schema, ['properties', name]);
  return review;
}

function checkFields(fields: JsonObject, properties: Readonly<Record<string, Json>>): Reading<JsonObject> {
  const found = Object.entries(fields).filter(([, value]) => value !== FIELD_NOT_FOUND);
  const budget = new CheckBudget();
  const schema = new BoundedSchema({ properties: properties }, budget, MAX_SENTENCES);
  const violations = schema.findViolations(toObject(found));
  if (budget.isExceeded) throw ToolError.nonRetryable(`the answer ${TOO_MANY_STEPS}`);
  if (violations.length === 0) return { ok: true, value: fields };
  return { ok: false, problems: describeFirstViolations(violations, { one: 'field', all: 'the answer' }) };
}

function readEach(
  answer: Json,
  names: readonly string[],
  read: (name: string, value: Json) => Reading<Json>,
): Reading<JsonObject> {
  if (!isObject(answer))
    return {
      ok: false,
      problems: [`the answer must be an object with the fields, not ${describeKind(answer)}`],
    };
  const given = Object.keys(answer);
  if (given.length > 0 && !names.some((name) => Object.hasOwn(answer, name))) {
    const known = joinFirst(
      names.map((name) => JSON.stringify(name)),
      MAX_NAMES,
    );
    return { ok: false, problems: [`the answer has none of the fields: its keys must be ${known}`] };
  }
  const fields: JsonObject = {};
  const problems: string[] = [];
  for (const name of names) {
    const value = Object.hasOwn(answer, name) ? (answer[name] ?? null) : null;
    const isNothing = value === null || value === FIELD_NOT_FOUND;
    const reading: Reading<Json> = isNothing ? { ok: true, value: FIELD_NOT_FOUND } : read(name, value);
    if (reading.ok) setOwn(fields, name, reading.value);
    else problems.push(...reading.problems);
  }
  return problems.length === 0 ? { ok: true, value: fields } : { ok: false, problems };
}

const MAX_NAMES = 20;

/** Like `Object.fromEntries`; also for keys that are named `__proto__`. */
function toObject<T extends Json>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  const object: Record<string, T> = {};
  for (const [key, value] of entries) setOwn(object, key, value);
  return object;
}
