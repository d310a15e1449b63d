import type { ErrorObject, ValidateFunction } from 'ajv';
import { isObject, kindOf } from '../../common/json.js';
import type { Path, Problem, ProblemCode } from '../problem.js';
import { nearest } from '../suggest.js';

/** A problem before its position is known. */
export interface Finding {
  readonly code: ProblemCode;
  readonly message: string;
  readonly path: Path;
  readonly hint?: string;
  /** Points at the key and not at what it holds. */
  readonly at?: 'key';
  readonly severity?: Problem['severity'];
}

/** A kind of definition: its schema, and the words for what it holds. */
export interface Shape {
  readonly validate: ValidateFunction;
  /** Of the whole: `the pipeline`. */
  readonly name: string;
  /** The field that lists its parts, and the word for one of them: `tasks`, `task`. */
  readonly parts: string;
  readonly part: string;
  /** The fields known at a place, for hints. */
  readonly fieldsAt: (path: Path) => readonly string[];
  readonly idHint: string;
  /** The fields that are lists of keys, each with what to say to one who wrote a map there. */
  readonly keyLists: Readonly<Record<string, string>>;
}

/** Holds the definition against the schema: fields, types, ranges (rule 11, D2). All that is wrong, not the first only. */
export function structureFindings(definition: unknown, shape: Shape): Finding[] {
  const { validate } = shape;
  if (validate(definition)) return [];
  return (validate.errors ?? []).map((error) => findingOf(error, definition, shape));
}

function findingOf(error: ErrorObject, definition: unknown, shape: Shape): Finding {
  const path = pathOf(error.instancePath, definition);
  const name = nameOf(path, shape);
  switch (error.keyword) {
    case 'additionalProperties':
      return unknownField(String(error.params['additionalProperty']), path, shape);
    case 'required':
      return missingField(String(error.params['missingProperty']), path, definition, shape);
    case 'type':
      return {
        code: 'wrong_type',
        path,
        message: `${name} must be ${typeName(error)}, not ${kind(definition, path)}`,
        ...(error.params['type'] === 'array' ? listHint(path, valueAt(definition, path), shape) : {}),
      };
    case 'enum': {
      const allowed = (error.params['allowedValues'] as unknown[]).map(String);
      const hint = suggestion(String(valueAt(definition, path)), allowed);
      return {
        code: 'invalid_value',
        path,
        message: `${name} must be one of ${allowed.join(', ')}`,
        ...hint,
      };
    }
    case 'pattern':
      return {
        code: 'invalid_value',
        path,
        message: `"${String(valueAt(definition, path))}" is no id`,
        hint: shape.idHint,
      };
    case 'minItems':
    case 'minLength':
      return { code: 'invalid_value', path, message: `${name} must not be empty` };
    default:
      return { code: 'invalid_value', path, message: `${name} ${error.message ?? 'is not valid'}` };
  }
}

function nameOf(path: Path, { name, parts, part }: Shape): string {
  const last = path.at(-1);
  if (last === undefined) return name;
  if (path.length === 2 && path[0] === parts) return `${part} ${Number(last) + 1}`;
  return typeof last === 'number' ? `entry ${last + 1} of "${String(path.at(-2))}"` : `"${last}"`;
}

function unknownField(field: string, path: Path, { fieldsAt }: Shape): Finding {
  const known = fieldsAt(path);
  const hint = suggestion(field, known);
  const message = `there is no field "${field}" here`;
  return {
    code: 'unknown_field',
    message,
    path: [...path, field],
    at: 'key',
    hint: hint.hint ?? `known are ${known.join(', ')}`,
  };
}

function missingField(field: string, path: Path, definition: unknown, shape: Shape): Finding {
  const owner = valueAt(definition, path);
  const isNamed = path.length > 0 && isObject(owner) && typeof owner['id'] === 'string';
  const whose = isNamed ? `${shape.part} "${String(owner['id'])}"` : nameOf(path, shape);
  return { code: 'missing_field', message: `${whose} has no "${field}"`, path };
}

/** Nobody means more by one text. */
const MOST_MEANT = 12;

function listHint(path: Path, value: unknown, { keyLists }: Shape): { hint?: string } {
  const field = String(path.at(-1));
  const keys = meantKeys(value);
  if (!Object.hasOwn(keyLists, field) || keys.length === 0 || keys.length > MOST_MEANT) return {};
  const more = isObject(value) ? (keyLists[field] ?? '') : '';
  return { hint: `write ${field}: [${keys.join(', ')}]${more}` };
}

function suggestion(word: string, known: Iterable<string>): { hint?: string } {
  const near = nearest(word, known);
  return near === undefined ? {} : { hint: `did you mean "${near}"?` };
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
};

function typeName(error: ErrorObject): string {
  const type = String(error.params['type']);
  return TYPE_NAMES[type] ?? type;
}

function kind(definition: unknown, path: Path): string {
  const value = valueAt(definition, path);
  const name = {
    object: 'a map',
    list: 'a list',
    string: 'text',
    boolean: String(value),
    number: String(value),
  };
  return (name as Record<string, string>)[kindOf(value)] ?? kindOf(value);
}

function pathOf(pointer: string, definition: unknown): Path {
  let value: unknown = definition;
  return pointer
    .split('/')
    .slice(1)
    .map((part) => {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      const place = Array.isArray(value) ? Number(key) : key;
      value = valueAt(value, [place]);
      return place;
    });
}

function valueAt(value: unknown, path: Path): unknown {
  let found = value;
  for (const key of path) {
    if (Array.isArray(found)) found = found[Number(key)];
    else if (isObject(found)) found = Object.hasOwn(found, String(key)) ? found[String(key)] : undefined;
    else return undefined;
  }
  return found;
}

/** One key, or several with commas. */
const KEYS = /^[\w.-]+(?:\s*,\s*[\w.-]+)*$/;

/** The keys of one who wrote `a`, `a, b` or `{a: ...}` where a list of keys belongs; none when it was none of these. */
export function meantKeys(value: unknown): readonly string[] {
  if (isObject(value)) return Object.keys(value);
  return typeof value === 'string' && KEYS.test(value) ? value.split(',').map((key) => key.trim()) : [];
}
