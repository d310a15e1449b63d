import { ToolError } from '../../../common/errors.js';
import { isObject, type Json, type JsonObject } from '../../../common/json.js';
import type { Steps } from '../../../common/steps.js';
import { joinFirst } from '../../../common/text.js';

const MAX_NAMES = 10;
const ENTRIES_PER_STEP = 200;

interface Declared {
  readonly names: ReadonlySet<string>;
  readonly required: readonly string[];
}

/**
 * Keeps the fields of an object, or of each object in a list, that a schema declares.
 *
 * @param schema of `load_schema`, with `fields`, or a JSON Schema, with `properties`
 * @param isStrict refuses other fields instead of dropping them
 * @throws ToolError, not retryable, when a required field is missing or the schema is none
 */
export function* applySchemaInSteps(data: Json, schema: JsonObject, isStrict: boolean): Steps<Json> {
  const declared = readDeclared(schema);
  if (isObject(data)) return pick(data, declared, isStrict, '');
  if (!Array.isArray(data)) return data;
  const kept: Json[] = [];
  for (const [index, entry] of data.entries()) {
    kept.push(isObject(entry) ? pick(entry, declared, isStrict, ` in element ${index}`) : entry);
    if (index % ENTRIES_PER_STEP === ENTRIES_PER_STEP - 1) yield;
  }
  return kept;
}

/** Says where the schema comes from, for the output. */
export function describeSource({ source, $id: id, title }: JsonObject): string {
  for (const name of [source, id, title]) if (typeof name === 'string' && name !== '') return name;
  return 'inline';
}

function readDeclared({ fields, properties, required }: JsonObject): Declared {
  if (Array.isArray(fields)) {
    const declared = fields.flatMap((field) => {
      const { name, required: isRequired } = isObject(field) ? field : { name: field };
      // A field of a schema is required unless it says that it is not, as in `load_schema`.
      return typeof name === 'string' ? [{ name, isRequired: isRequired !== false }] : [];
    });
    const names = declared.map(({ name }) => name);
    const needed = declared.filter(({ isRequired }) => isRequired).map(({ name }) => name);
    return { names: new Set(names), required: [...new Set(needed)] };
  }
  if (isObject(properties)) {
    const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
    return { names: new Set(Object.keys(properties)), required: [...new Set(needed)] };
  }
  throw ToolError.nonRetryable(
    'the schema must have "fields", as from load_schema, or "properties", as a JSON Schema has',
  );
}

function pick(
  object: JsonObject,
  { names, required }: Declared,
  isStrict: boolean,
  place: string,
): JsonObject {
  const missing = required.filter((name) => !Object.hasOwn(object, name) || object[name] === null);
  if (missing.length > 0) {
    throw ToolError.nonRetryable(`the data lacks required fields${place}: ${joinFirst(missing, MAX_NAMES)}`);
  }
  const others = Object.keys(object).filter((name) => !names.has(name));
  if (others.length === 0) return object;
  if (isStrict) {
    throw ToolError.nonRetryable(
      `the schema does not declare these fields${place}: ${joinFirst(others, MAX_NAMES)} (strict: false drops them)`,
    );
  }
  return Object.fromEntries(Object.entries(object).filter(([name]) => names.has(name)));
}
