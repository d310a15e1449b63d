import type { ValidateFunction } from 'ajv';
import { takeViolations, type Violation } from '../../common/json-schema/violation.js';
import { isObject, kindOf } from '../../common/json.js';
import type { Diagnostic } from '../diagnostic.js';
import type { Path } from '../problem.js';
import { didYouMean, nearest } from '../suggest.js';
import type { DefinitionKind } from './root.js';

/** What the structure check must know about pipelines or plans: the validator, and the words of its messages. */
export interface DefinitionShape {
  /** Generated; stops when it has found more errors than are reported. */
  readonly validate: ValidateFunction;
  readonly kind: DefinitionKind;
  /** The field that lists its parts, and the noun for one of them: `tasks`, `task`. */
  readonly parts: string;
  readonly part: string;
  /** The fields allowed in the object at a path, for hints. */
  readonly fieldsAt: (path: Path) => readonly string[];
  /** The fields that are lists of keys, each with a remark for an author who wrote a map there. */
  readonly keyLists: Readonly<Record<string, string>>;
}

/** Validates fields, types and ranges against the schema (rule 11, D2). Reports every violation, up to the limit. */
export function checkStructure(definition: unknown, shape: DefinitionShape): Diagnostic[] {
  const { validate } = shape;
  if (validate(definition)) return [];
  return takeViolations(validate, definition).map((violation) => toDiagnostic(violation, shape));
}

function toDiagnostic(violation: Violation, shape: DefinitionShape): Diagnostic {
  const { path, keyword, wanted, value, message } = violation;
  const name = formatName(path, shape);
  const wantedName = typeof wanted === 'string' ? wanted : '';
  switch (keyword) {
    case 'additionalProperties':
      return unknownField(wantedName, path, shape);
    case 'required':
      return missingField(wantedName, violation, shape);
    case 'type':
      return {
        code: 'wrong_type',
        path,
        message: `${name} must be ${TYPE_NAMES[wantedName] ?? wantedName}, not ${describeValue(value)}`,
        hint: wanted === 'array' ? suggestList(path, value, shape) : undefined,
      };
    case 'enum': {
      const allowed = (Array.isArray(wanted) ? wanted : []).map(String);
      const meant = nearest(String(value), allowed);
      return {
        code: 'invalid_value',
        path,
        message: `${name} must be one of ${allowed.join(', ')}`,
        hint: meant && didYouMean(meant),
      };
    }
    case 'pattern':
      return {
        code: 'invalid_value',
        path,
        message: `"${String(value)}" is not a valid id`,
        hint: `an id has up to 128 letters, digits, _ and -, and starts with a letter or _; the id of a ${shape.kind} may also contain dots`,
      };
    case 'maxLength':
      return {
        code: 'invalid_value',
        path,
        message: `${name} must have at most ${JSON.stringify(wanted)} characters`,
      };
    case 'minItems':
    case 'minLength':
      return { code: 'invalid_value', path, message: `${name} must not be empty` };
    default:
      return { code: 'invalid_value', path, message: `${name} ${message ?? 'is not valid'}` };
  }
}

function formatName(path: Path, { kind, parts, part }: DefinitionShape): string {
  const last = path.at(-1);
  if (last === undefined) return `the ${kind}`;
  if (path.length === 2 && path[0] === parts) return `${part} ${Number(last) + 1}`;
  return typeof last === 'number' ? `entry ${last + 1} of "${String(path.at(-2))}"` : `"${last}"`;
}

function unknownField(field: string, path: Path, { fieldsAt }: DefinitionShape): Diagnostic {
  const known = fieldsAt(path);
  const meant = nearest(field, known);
  return {
    code: 'unknown_field',
    message: `there is no field "${field}" here`,
    path: [...path, field],
    at: 'key',
    hint: meant === undefined ? `the fields are ${known.join(', ')}` : didYouMean(meant),
  };
}

function missingField(field: string, { path, value }: Violation, shape: DefinitionShape): Diagnostic {
  const hasId = path.length > 0 && isObject(value) && typeof value['id'] === 'string';
  const owner = hasId ? `${shape.part} "${String(value['id'])}"` : formatName(path, shape);
  return { code: 'missing_field', message: `${owner} has no "${field}"`, path };
}

/** A text with more keys than this was not meant as a list of keys. */
const MAX_GUESSED_KEYS = 12;

function suggestList(path: Path, value: unknown, { keyLists }: DefinitionShape): string | undefined {
  const field = String(path.at(-1));
  const keys = guessKeys(value);
  if (!Object.hasOwn(keyLists, field) || keys.length === 0 || keys.length > MAX_GUESSED_KEYS)
    return undefined;
  const remark = isObject(value) ? (keyLists[field] ?? '') : '';
  return `write ${field}: [${keys.join(', ')}]${remark}`;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
};

function describeValue(value: unknown): string {
  if (typeof value === 'boolean' || typeof value === 'number') return String(value);
  const kind = kindOf(value);
  return TYPE_NAMES[kind === 'list' ? 'array' : kind] ?? kind;
}

/** One key, or several separated by commas. */
const KEYS = /^[\w.-]+(?:\s*,\s*[\w.-]+)*$/;

/** Guesses the keys that an author meant with `a`, `a, b` or `{a: ...}` where a list of keys belongs. */
export function guessKeys(value: unknown): readonly string[] {
  if (isObject(value)) return Object.keys(value);
  return typeof value === 'string' && KEYS.test(value) ? value.split(',').map((key) => key.trim()) : [];
}
