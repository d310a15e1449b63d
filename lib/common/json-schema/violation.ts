import type { ErrorObject } from 'ajv/dist/2020.js';
import { describeKind, isObject, type Json, parseJsonPointer } from '../json/json.js';
import { ellipsize, formatFirst, joinFirst } from '../text.js';
import type { KeywordType } from './value-tests.js';

/** Values with more members, at any depth, get their first error only: finding all of a megabyte would take seconds. */
export const MAX_MEMBERS_FOR_ALL_ERRORS = 5000;

/** One violation of a schema by a value. */
export interface Violation {
  /** Keys and indexes within the value; empty for the whole value. */
  readonly path: readonly (string | number)[];
  /** The keyword of JSON Schema that is not satisfied. */
  readonly keyword: string;
  /** The type or the bound that the keyword requires, or the missing or unknown name. */
  readonly wanted: Json | undefined;
  readonly value: unknown;
  /** The type that the keyword is about, when the value has another one. */
  readonly needed?: KeywordType;
  /** The message of ajv, for keywords without a sentence of their own. */
  readonly message?: string;
  /** The keyword belongs to one of several branches (`anyOf`, `if`, …). */
  readonly branch?: boolean;
}

/** The parameters of ajv's errors that hold what the keyword requires. */
const WANTED_PARAMS = [
  'missingProperty',
  'additionalProperty',
  'type',
  'allowedValues',
  'allowedValue',
  'limit',
  'multipleOf',
  'pattern',
];

interface Validated {
  errors?: ErrorObject[] | null | undefined;
}

/** Takes the violations from a validator's last call, and clears its errors, which would retain the value. */
export function takeViolations(validate: Validated, value: unknown): Violation[] {
  const errors = validate.errors ?? [];
  validate.errors = null;
  return errors.map((error) => toViolation(error, value));
}

function toViolation(error: ErrorObject, root: unknown): Violation {
  const { path, value } = resolvePointer(error.instancePath, root);
  return {
    path,
    keyword: error.keyword,
    wanted: findWanted(error),
    value,
    ...(error.message !== undefined && { message: error.message }),
    branch: /\/(anyOf|oneOf|not|if|then|else|contains)(\/|$)/.test(error.schemaPath),
  };
}

function findWanted(error: ErrorObject): Json | undefined {
  const params: Record<string, Json> = error.params;
  return WANTED_PARAMS.map((name) => params[name]).find((wanted) => wanted !== undefined);
}

/** Resolves a JSON pointer to the path and the value at it. */
function resolvePointer(pointer: string, root: unknown): { path: Violation['path']; value: unknown } {
  const path: (string | number)[] = [];
  let value = root;
  for (const key of parseJsonPointer(pointer)) {
    path.push(Array.isArray(value) ? Number(key) : key);
    value = Array.isArray(value) ? value[Number(key)] : isObject(value) ? value[key] : undefined;
  }
  return { path, value };
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  list: 'a list',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

const MAX_VALUE_LENGTH = 60;

/** Longer names, patterns and values are cut: callers choose them. */
const MAX_PART_LENGTH = 200;

const MAX_CHOICES = 20;

/** The names of one field and of the whole value in messages: `input` and `inputs`. */
export interface Nouns {
  readonly one: string;
  readonly all: string;
  /** The names that the whole value may have, to be listed when another is found. */
  readonly known?: readonly string[];
  /** Omits invalid values from messages, because logs and records would show them. */
  readonly hideValues?: boolean;
}

/** More sentences would not help. */
export const MAX_SENTENCES = 10;

/**
 * Describes the errors of a validator's last call, one sentence each, and clears them. Converts only the errors that it
 * describes: a caller can cause hundreds of thousands.
 */
export function describeErrors(validate: Validated, value: unknown, nouns: Nouns): string[] {
  const errors = validate.errors ?? [];
  validate.errors = null;
  return formatFirst(errors, MAX_SENTENCES, (error) => describeViolation(toViolation(error, value), nouns));
}

/** Describes each violation in a sentence: `input "rows[0].name" must be a string, not null`. */
export function describeViolations(violations: readonly Violation[], nouns: Nouns): string[] {
  return formatFirst(violations, MAX_SENTENCES, (violation) => describeViolation(violation, nouns));
}

/** Describes the violations that were found before the check ended; there may be more. */
export function describeFirstViolations(violations: readonly Violation[], nouns: Nouns): string[] {
  const sentences = describeViolations(violations.slice(0, MAX_SENTENCES), nouns);
  return violations.length > MAX_SENTENCES ? [...sentences, 'and more'] : sentences;
}

export function describeViolation(violation: Violation, { one, all, known, hideValues }: Nouns): string {
  const { path, keyword, wanted } = violation;
  const subject = path.length === 0 ? all : `${one} "${formatValuePath(path)}"`;
  if (violation.needed !== undefined)
    return `${subject} is ${describeMistyped(violation.value)}, and ${describeNeed({ keyword, type: violation.needed })}`;
  if (keyword === 'required') {
    return path.length === 0
      ? `${one} "${formatWanted(wanted)}" is missing`
      : `${subject} lacks "${formatWanted(wanted)}"`;
  }
  if (keyword === 'additionalProperties') {
    return path.length === 0
      ? `there is no ${one} "${formatWanted(wanted)}"${formatKnown(known)}`
      : `${subject} may not contain "${formatWanted(wanted)}"`;
  }
  const actual = hideValues ? '' : formatActual(violation.value);
  return `${subject} must ${describeDemand(violation, actual)}`;
}

const NEEDED_TYPES: Readonly<Record<KeywordType, string>> = {
  string: 'a text',
  number: 'a number',
  array: 'a list',
  object: 'an object',
};

/** Says of which type a value has to be for a keyword to hold of it (D77): `minimum needs a number`. */
export function describeNeed({
  keyword,
  type,
}: {
  readonly keyword: string;
  readonly type: KeywordType;
}): string {
  return `${keyword} needs ${NEEDED_TYPES[type]}`;
}

/** Shows a value that is short enough: of a secret, a part could not be masked. */
function describeMistyped(value: unknown): string {
  if (typeof value === 'object' && value !== null) return describeKind(value);
  if (typeof value !== 'string') return String(value);
  if (value === '') return 'an empty text';
  return value.length > MAX_VALUE_LENGTH ? 'a text' : `the text ${quote(value)}`;
}

function formatKnown(known: Nouns['known'] = []): string {
  return known.length === 0 ? '' : ` (there are ${joinFirst(known, MAX_CHOICES)})`;
}

/** By keyword, the demand on a value, of which `wanted` is the formatted bound. */
const DEMANDS = new Map<string, (wanted: string) => string>([
  ['minLength', (wanted) => (wanted === '1' ? 'not be empty' : `have at least ${wanted} characters`)],
  ['maxLength', (wanted) => `have at most ${wanted} characters`],
  ['minItems', (wanted) => `have at least ${wanted} items`],
  ['maxItems', (wanted) => `have at most ${wanted} items`],
  ['minProperties', (wanted) => `have at least ${wanted} fields`],
  ['maxProperties', (wanted) => `have at most ${wanted} fields`],
  ['anyOf', () => 'match a schema in "anyOf"'],
  ['oneOf', () => 'match exactly one schema in "oneOf"'],
  ['not', () => 'not match the schema in "not"'],
  ['false schema', () => 'be absent'],
]);

/** As `DEMANDS`, for keywords whose demand the invalid value follows. */
const DEMANDS_WITH_VALUE = new Map<string, (wanted: string) => string>([
  ['minimum', (wanted) => `be at least ${wanted}`],
  ['maximum', (wanted) => `be at most ${wanted}`],
  ['exclusiveMinimum', (wanted) => `be above ${wanted}`],
  ['exclusiveMaximum', (wanted) => `be below ${wanted}`],
  ['multipleOf', (wanted) => `be a multiple of ${wanted}`],
  ['pattern', (wanted) => `match the pattern ${wanted}`],
]);

/** @param actual the invalid value, as in `, not 3` */
function describeDemand({ keyword, wanted, value, message }: Violation, actual: string): string {
  if (keyword === 'type')
    return `be ${typeName(wanted)}, not ${wanted === 'integer' && typeof value === 'number' ? value : describeKind(value)}`;
  if (keyword === 'enum') return `be one of ${joinFirst([wanted].flat().map(quote), MAX_CHOICES)}${actual}`;
  if (keyword === 'const') return `be ${quote(wanted)}${actual}`;
  const demandWithValue = DEMANDS_WITH_VALUE.get(keyword);
  if (demandWithValue !== undefined) return demandWithValue(formatWanted(wanted)) + actual;
  const demand = DEMANDS.get(keyword)?.(formatWanted(wanted));
  return demand ?? (message ?? `satisfy "${keyword}"`).replace(/^must /, '');
}

/** Formats a path: `rows[0].name`. */
export function formatValuePath(path: Violation['path']): string {
  const name = path.reduce<string>((before, key) => {
    if (typeof key === 'number') return `${before}[${key}]`;
    return before === '' ? key : `${before}.${key}`;
  }, '');
  return clip(name);
}

function typeName(wanted: Json | undefined): string {
  const types = Array.isArray(wanted) ? wanted : [wanted];
  return types.map((type) => TYPE_NAMES[formatWanted(type)] ?? formatWanted(type)).join(' or ');
}

/** Adds a scalar value that is short enough to help. */
function formatActual(value: unknown): string {
  if (typeof value === 'object' && value !== null) return '';
  const shown = quote(value);
  return shown.length <= MAX_VALUE_LENGTH ? `, not ${shown}` : '';
}

function quote(value: unknown): string {
  // A longer text is cut anyway; writing all of it takes long.
  const part = typeof value === 'string' ? value.slice(0, MAX_PART_LENGTH + 1) : value;
  return clip(JSON.stringify(part) ?? String(part));
}

function formatWanted(value: Json | undefined): string {
  return typeof value === 'string' ? clip(value) : quote(value);
}

function clip(text: string): string {
  return ellipsize(text, MAX_PART_LENGTH);
}
