import { ToolError } from '../../../common/errors.js';
import { isObject, type Json, type JsonObject, setOwn } from '../../../common/json/json.js';
import { StepCounter, type Steps } from '../../../common/scheduling/steps.js';
import { joinFirst } from '../../../common/text.js';

const MAX_NAMES = 10;
const KEYS_PER_STEP = 500;

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
  if (!Array.isArray(data) && !isObject(data)) {
    yield* readDeclared(schema);
    return data;
  }
  const picker = new Picker(yield* readDeclared(schema), isStrict);
  if (isObject(data)) return yield* picker.pick(data, '');
  const kept: Json[] = [];
  for (const [index, entry] of data.entries()) {
    kept.push(isObject(entry) ? yield* picker.pick(entry, ` in element ${index}`) : entry);
    if (picker.isStepOver()) yield;
  }
  return kept;
}

/** Says where the schema comes from, for the output. */
export function describeSource({ source, $id: id, title }: JsonObject): string {
  for (const name of [source, id, title]) if (typeof name === 'string' && name !== '') return name;
  return 'inline';
}

function* readDeclared({ fields, properties, required }: JsonObject): Steps<Declared> {
  if (Array.isArray(fields)) {
    const names = new Set<string>();
    const needed = new Set<string>();
    for (const [index, field] of fields.entries()) {
      if (index % KEYS_PER_STEP === KEYS_PER_STEP - 1) yield;
      const { name, required: isRequired } = isObject(field) ? field : { name: field };
      if (typeof name !== 'string') continue;
      names.add(name);
      // A field of a schema is required unless it says that it is not, as in `load_schema`.
      if (isRequired !== false) needed.add(name);
    }
    return { names, required: [...needed] };
  }
  if (isObject(properties)) {
    const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
    return { names: new Set(Object.keys(properties)), required: [...new Set(needed)] };
  }
  throw ToolError.nonRetryable(
    'the schema must have "fields", as from load_schema, or "properties", as a JSON Schema has',
  );
}

/** Picks the declared fields of objects. */
class Picker {
  readonly #declared: Declared;
  readonly #isStrict: boolean;
  /** Data may contain the same object thousands of times: a copy for each would not fit in memory. */
  readonly #picked = new Map<JsonObject, JsonObject>();
  readonly #counter = new StepCounter(KEYS_PER_STEP);

  constructor(declared: Declared, isStrict: boolean) {
    this.#declared = declared;
    this.#isStrict = isStrict;
  }

  /** Counts one key or element. Returns true when the step has done enough. */
  isStepOver(): boolean {
    this.#counter.add(1);
    return this.#counter.isOver();
  }

  *pick(object: JsonObject, place: string): Steps<JsonObject> {
    const known = this.#picked.get(object);
    if (known !== undefined) return known;
    const missing: string[] = [];
    for (const name of this.#declared.required) {
      if (this.isStepOver()) yield;
      if (!Object.hasOwn(object, name) || object[name] === null) missing.push(name);
    }
    if (missing.length > 0)
      throw ToolError.nonRetryable(
        `the data lacks required fields${place}: ${joinFirst(missing, MAX_NAMES)}`,
      );
    const kept: JsonObject = {};
    const others: string[] = [];
    for (const name of Object.keys(object)) {
      if (this.isStepOver()) yield;
      if (this.#declared.names.has(name)) setOwn(kept, name, object[name]);
      else others.push(name);
    }
    if (this.#isStrict && others.length > 0)
      throw ToolError.nonRetryable(
        `the schema does not declare these fields${place}: ${joinFirst(others, MAX_NAMES)} (strict: false drops them)`,
      );
    const picked = others.length === 0 ? object : kept;
    this.#picked.set(object, picked);
    return picked;
  }
}
