import type { ValidateFunction } from 'ajv';
import { DURATION_FORMS, DURATION_PATTERN } from '../../common/duration.js';
import { takeViolations, type Violation } from '../../common/json-schema/violation.js';
import { isObject, kindOf } from '../../common/json/json.js';
import { LABEL_LIMITS } from '../../common/limits.js';
import { ellipsize } from '../../common/text.js';
import type { Diagnostic } from '../problems/diagnostic.js';
import type { Path } from '../problems/problem.js';
import { type Hint, hintRename } from '../problems/hint.js';
import { nearest } from '../did-you-mean.js';
import { hintForForeignField } from './foreign-fields.js';
import { type DefinitionFields, MissingFields } from './missing-fields.js';
import { hintForChoice, hintForDuration, hintForWrongType } from './value-hints.js';

/** The shape of pipelines or plans, for the structure check: the validator, and the words of its messages. */
export interface DefinitionShape extends DefinitionFields {
  /** Generated; stops when it has found more errors than are reported. */
  readonly validate: ValidateFunction;
  /** The noun for one part of the definition: `task`. */
  readonly part: string;
  /** The fields that are lists of keys, each with a remark for an author who wrote a map there. */
  readonly keyLists: Readonly<Record<string, string>>;
}

/** Validates fields, types and ranges against the schema (rule 11, D2). Reports every violation, up to the limit. */
export function checkStructure(definition: unknown, shape: DefinitionShape): Diagnostic[] {
  const { validate } = shape;
  if (validate(definition)) return [];
  const fields = new MissingFields(definition, shape);
  return takeViolations(validate, definition).map((violation) => toDiagnostic(violation, shape, fields));
}

function toDiagnostic(violation: Violation, shape: DefinitionShape, fields: MissingFields): Diagnostic {
  const { path, keyword, wanted, value, message } = violation;
  const name = formatName(path, shape);
  // A field that may be left out has two types, of which the second is null (D53).
  const [first] = [wanted].flat();
  const wantedName = typeof first === 'string' ? first : '';
  const invalid = (problem: string, hint?: Hint): Diagnostic => {
    return { code: 'invalid_value', path, message: problem, hint };
  };
  switch (keyword) {
    case 'additionalProperties':
      if (path[0] === LABELS)
        return {
          ...invalid(`"${wantedName}" cannot be the name of a label`, LABEL_NAME_HINT),
          path: [...path, wantedName],
          at: 'key',
        };
      return unknownField(wantedName, violation, shape);
    case 'required':
      return missingField(wantedName, violation, shape, fields);
    case 'type': {
      const isDuration = wantedName === 'number' && Array.isArray(wanted) && wanted.includes('string');
      const orMap = isDuration && wanted.includes('object') ? ' or a map' : '';
      const wantedType = isDuration ? `a duration${orMap}` : (TYPE_NAMES[wantedName] ?? wantedName);
      const problem = `${name} must be ${wantedType}, not ${describeValue(value)}`;
      const hint = hintForWrongType({ path, wanted: wantedName, value }, shape.keyLists);
      return { code: 'wrong_type', path, message: problem, hint };
    }
    case 'enum': {
      const allowed = (Array.isArray(wanted) ? wanted : []).filter((choice) => choice !== null).map(String);
      return invalid(`${name} must be one of ${allowed.join(', ')}`, hintForChoice(path, value, allowed));
    }
    case 'pattern':
      if (path[0] === LABELS) return invalid(`${name} must have no line breaks and other control characters`);
      if (wanted === DURATION_PATTERN) {
        const text = String(value);
        const problem = `"${ellipsize(text, MAX_SHOWN)}" is no duration: ${DURATION_FORMS}`;
        return invalid(problem, hintForDuration(path, text));
      }
      return invalid(
        `"${String(value)}" is not a valid id`,
        `an id has up to 128 letters, digits, _ and -, and starts with a letter or _; the id of a ${shape.kind} may also start with a digit and contain dots`,
      );
    case 'maxItems':
    case 'maxProperties':
      return invalid(`${name} must have at most ${JSON.stringify(wanted)} entries`);
    case 'maxLength':
      return invalid(`${name} must have at most ${JSON.stringify(wanted)} characters`);
    case 'minItems':
    case 'minLength':
      return invalid(`${name} must not be empty`);
    default:
      return invalid(`${name} ${message ?? 'is not valid'}`);
  }
}

const LABELS = 'labels';

const LABEL_NAME_HINT = `the name of a label has up to ${LABEL_LIMITS.nameLength} letters, digits, _, - and ., and starts with a letter, a digit or _`;

/** Characters of a wrong text that a message has. */
const MAX_SHOWN = 60;

function formatName(path: Path, { kind, parts, part }: DefinitionShape): string {
  const last = path.at(-1);
  if (last === undefined) return `the ${kind}`;
  if (path.length === 2 && path[0] === parts) return `${part} ${Number(last) + 1}`;
  return typeof last === 'number' ? `entry ${last + 1} of "${String(path.at(-2))}"` : `"${last}"`;
}

function unknownField(field: string, { path, value }: Violation, { fieldsAt }: DefinitionShape): Diagnostic {
  return {
    code: 'unknown_field',
    message: `there is no field "${field}" here`,
    path: [...path, field],
    at: 'key',
    hint: hintForField(field, fieldsAt(path), value),
  };
}

/** A word of another product means what it means there; any other is misspelt. */
function hintForField(field: string, known: readonly string[], owner: unknown): Hint {
  const foreign = hintForForeignField(field, known, owner);
  if (foreign !== undefined) return foreign;
  const meant = nearest(field, known);
  return meant === undefined ? `the fields are ${known.join(', ')}` : hintRename(field, meant);
}

function missingField(
  field: string,
  { path, value }: Violation,
  shape: DefinitionShape,
  fields: MissingFields,
): Diagnostic {
  const hasId = path.length > 0 && isObject(value) && typeof value['id'] === 'string';
  const owner = hasId ? `${shape.part} "${String(value['id'])}"` : formatName(path, shape);
  const message = `${owner} has no "${field}"`;
  return { code: 'missing_field', message, path, hint: fields.hintFor(field, path, value) };
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
