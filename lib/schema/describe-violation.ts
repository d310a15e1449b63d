import { type Json, kindOf } from '../json.js';
import type { Violation } from './violation.js';

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
