import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { isObject, type Json, kindOf } from '../json.js';

/** One way in which a value is not what its schema asks for. */
export interface Violation {
  /** Where in the value: keys and indexes; empty for the whole of it. */
  readonly path: readonly (string | number)[];
  /** The word of JSON Schema that is not satisfied. */
  readonly keyword: string;
  /** What the keyword asks for: the type, the bound, the missing or unknown name. */
  readonly wanted: Json | undefined;
  /** What stands there. */
  readonly value: unknown;
  /** A last resort, for keywords that have no sentence here. */
  readonly message?: string;
  /** It follows from one branch of several (`anyOf`, `if`, …). */
  readonly branch?: boolean;
}

/** How the compiler names what a keyword asks for. */
const WANTED = ['missingProperty', 'additionalProperty', 'type', 'allowedValues', 'limit', 'pattern'];

/** What the last call of a validator found; the validator forgets it, for it would hold on to the value. */
export function violationsOf(validate: ValidateFunction, value: unknown): Violation[] {
  const violations = (validate.errors ?? []).map((error) => violationOf(error, value));
  validate.errors = null;
  return violations;
}

function violationOf(error: ErrorObject, root: unknown): Violation {
  const { path, value } = placeOf(error.instancePath, root);
  return {
    path,
    keyword: error.keyword,
    wanted: wantedOf(error),
    value,
    ...(error.message !== undefined && { message: error.message }),
    branch: /\/(anyOf|oneOf|not|if|then|else|contains)(\/|$)/.test(error.schemaPath),
  };
}

function wantedOf(error: ErrorObject): Json | undefined {
  const params: Record<string, Json> = error.params;
  return WANTED.map((name) => params[name]).find((wanted) => wanted !== undefined);
}

/** What a JSON pointer points at. */
function placeOf(pointer: string, root: unknown): { path: Violation['path']; value: unknown } {
  const path: (string | number)[] = [];
  let value = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
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
  array: 'a list',
  object: 'an object',
  null: 'null',
};

const SHORT = 60;

/** What the value is called: one entry of it, and all of them. */
export interface Nouns {
  readonly one: string;
  readonly all: string;
}

/** A sentence about a violation, for people. */
export function describeViolation(violation: Violation, { one, all }: Nouns): string {
  const { path, keyword, wanted } = violation;
  const subject = path.length === 0 ? all : `${one} "${placeName(path)}"`;
  if (keyword === 'required') {
    return path.length === 0 ? `${one} "${show(wanted)}" is missing` : `${subject} lacks "${show(wanted)}"`;
  }
  if (keyword === 'additionalProperties') {
    return path.length === 0
      ? `there is no ${one} "${show(wanted)}"`
      : `${subject} may not hold "${show(wanted)}"`;
  }
  return `${subject} must ${demand(violation)}`;
}

function demand({ keyword, wanted, value, message }: Violation): string {
  switch (keyword) {
    case 'type':
      return `be ${typeName(wanted)}, not ${wanted === 'integer' && typeof value === 'number' ? value : kindName(value)}`;
    case 'enum':
      return `be one of ${Array.isArray(wanted) ? wanted.map(quote).join(', ') : quote(wanted)}${notThis(value)}`;
    case 'minimum':
      return `be at least ${show(wanted)}${notThis(value)}`;
    case 'maximum':
      return `be at most ${show(wanted)}${notThis(value)}`;
    case 'minLength':
      return wanted === 1 ? 'not be empty' : `have at least ${show(wanted)} characters`;
    case 'pattern':
      return `match the pattern ${show(wanted)}${notThis(value)}`;
    default:
      return (message ?? `satisfy "${keyword}"`).replace(/^must /, '');
  }
}

/** `rows[0].name` */
function placeName(path: Violation['path']): string {
  return path.reduce<string>((name, key) => {
    if (typeof key === 'number') return `${name}[${key}]`;
    return name === '' ? key : `${name}.${key}`;
  }, '');
}

function typeName(wanted: Json | undefined): string {
  const types = Array.isArray(wanted) ? wanted : [wanted];
  return types.map((type) => TYPE_NAMES[show(type)] ?? show(type)).join(' or ');
}

function kindName(value: unknown): string {
  const kind = kindOf(value);
  if (kind === 'null' || kind === 'undefined') return kind;
  return `${kind === 'object' ? 'an' : 'a'} ${kind}`;
}

/** The value itself, when it is short enough to help. */
function notThis(value: unknown): string {
  if (typeof value === 'object' && value !== null) return '';
  const shown = quote(value);
  return shown.length <= SHORT ? `, not ${shown}` : '';
}

function quote(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

function show(value: Json | undefined): string {
  return typeof value === 'string' ? value : quote(value);
}
