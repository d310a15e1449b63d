import { ToolError } from '../../common/errors.js';
import { describeKind, isObject, type Json } from '../../common/json/json.js';
import { MAX_SCHEMA_FIELDS } from '../../common/limits.js';
import type { RegisteredSchema } from '../tool.js';

/** One field that a document is read for. */
export interface SchemaField {
  readonly name: string;
  /** Describes the value in words: `number`, `date`, `text in English`. */
  readonly type_hint: string | null;
  readonly required: boolean;
  readonly description: string | null;
  /** True when the value follows from those of other fields. */
  readonly computed: boolean;
  readonly formula: string | null;
  readonly sign_convention: string | null;
  readonly section: string | null;
  readonly cross_check: string | null;
  readonly fallback_rule: string | null;
  readonly manual_ref: string | null;
}

/** Stands for a field that was not found in a document. */
export const FIELD_NOT_FOUND = '__not_found__';

/** The output of the tool `load_schema`. */
export interface Schema {
  readonly fields: readonly SchemaField[];
  /** The name of the file or of the registered schema; `dict` or `list` for a value. */
  readonly source: string;
  readonly raw: Json;
  readonly task_id: string | null;
}

/**
 * Reads the fields from `{fields: [...]}`, a list of names and field objects, or an object from names to types or field
 * objects.
 *
 * @throws ToolError, not retryable, that names the first invalid field
 */
export function readFields(value: Json, place: string): SchemaField[] {
  const listed = isObject(value) && Array.isArray(value['fields']) ? value['fields'] : value;
  if (!Array.isArray(listed)) return readNamedFields(listed, place);
  assertFieldCount(listed.length, place);
  return listed.map((field: Json, i) => readField(field, `field ${i + 1} of ${place}`));
}

/** @throws ToolError, not retryable, when there are more fields than a schema may have */
export function assertFieldCount(count: number, place: string): void {
  if (count <= MAX_SCHEMA_FIELDS) return;
  const most = MAX_SCHEMA_FIELDS;
  throw ToolError.nonRetryable(
    `${place} has more than ${most} fields: a schema may have ${most}, so list those that you need`,
  );
}

/** Creates a field that has nothing but a name, and perhaps a description. */
export function createField(name: string, description: string | null = null): SchemaField {
  return {
    name,
    type_hint: null,
    required: true,
    description,
    computed: false,
    formula: null,
    sign_convention: null,
    section: null,
    cross_check: null,
    fallback_rule: null,
    manual_ref: null,
  };
}

function readNamedFields(value: Json, place: string): SchemaField[] {
  if (!isObject(value)) throw ToolError.nonRetryable(`${place} is ${describeKind(value)}, not a schema`);
  if (isObject(value['properties']) && value['type'] === 'object')
    throw ToolError.nonRetryable(
      `${place} is a JSON Schema: list the fields instead, such as {"fields": [{"name": "total", "type": "number"}]}`,
    );
  assertFieldCount(Object.keys(value).length, place);
  return Object.entries(value).map(([name, type]) => {
    if (isObject(type)) return readField({ ...type, name }, `"${name}" of ${place}`);
    return readField({ name, type: type as Json }, `"${name}" of ${place}`);
  });
}

const TEXTS = [
  'description',
  'formula',
  'sign_convention',
  'section',
  'cross_check',
  'fallback_rule',
  'manual_ref',
] as const;

function readField(value: Json, place: string): SchemaField {
  if (typeof value === 'string' && value !== '') return createField(value);
  if (!isObject(value) || typeof value['name'] !== 'string' || value['name'] === '')
    throw ToolError.nonRetryable(`${place} has no name: write a name, or an object with "name"`);
  const texts = TEXTS.map((key) => [key, readText(value[key], key, place)] as const);
  return {
    ...createField(value['name']),
    ...Object.fromEntries(texts),
    type_hint: readText(value['type_hint'] ?? value['type'], 'type', place),
    required: readFlag(value['required'], true, 'required', place),
    computed: readFlag(value['computed'], false, 'computed', place),
  };
}

function readText(value: unknown, key: string, place: string): string | null {
  if (value === undefined || value === null || typeof value === 'string') return value ?? null;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw ToolError.nonRetryable(`"${key}" of ${place} must be a text, not ${describeKind(value)}`);
}

function readFlag(value: unknown, fallback: boolean, key: string, place: string): boolean {
  if (value === undefined || value === null) return fallback;
  if (typeof value === 'boolean') return value;
  throw ToolError.nonRetryable(`"${key}" of ${place} must be true or false, not ${describeKind(value)}`);
}

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
