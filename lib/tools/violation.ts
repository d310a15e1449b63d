import type { Path } from '../definition/problem.js';
import { type Json, type JsonObject, kindOf } from '../json.js';

/** One way in which the inputs of a tool are not what it declares. */
export interface Violation {
  /** Where in the inputs; the first key is the input's name. Empty for the inputs as a whole. */
  readonly path: Path;
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

/** Inputs with their defaults, and what is wrong with them. */
export interface InspectedInputs {
  readonly inputs: JsonObject;
  readonly violations: readonly Violation[];
}

/** Completes and checks what a tool is given, without changing it. */
export type InputCheck = (inputs: JsonObject) => InspectedInputs;

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

/** A sentence about a violation, for people. */
export function describeViolation(violation: Violation): string {
  const { path, keyword, wanted } = violation;
  const subject = path.length === 0 ? 'inputs' : `input "${placeName(path)}"`;
  if (keyword === 'required') {
    return path.length === 0 ? `input "${show(wanted)}" is missing` : `${subject} lacks "${show(wanted)}"`;
  }
  if (keyword === 'additionalProperties') {
    return path.length === 0
      ? `there is no input "${show(wanted)}"`
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
function placeName(path: Path): string {
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
