import { isObject } from '../../common/json.js';
import type { Path } from '../problem.js';
import { didYouMean, nearest } from '../suggest.js';

/** What is wrong with the type of a value. */
interface WrongType {
  readonly path: Path;
  /** The type of JSON Schema that it must have. */
  readonly wanted: string;
  readonly value: unknown;
}

/**
 * Returns how to write a value that has the wrong type: as a list, in seconds, with or without quotes.
 *
 * @param keyLists the fields that are lists of keys, each with a remark for an author who wrote a map there
 */
export function hintForWrongType(
  { path, wanted, value }: WrongType,
  keyLists: Readonly<Record<string, string>>,
): string | undefined {
  const field = String(path.at(-1));
  switch (wanted) {
    case 'array':
      return field === 'tasks' && isObject(value)
        ? 'begin each task with "- id: NAME"'
        : suggestList(field, value, keyLists);
    case 'object':
      if (value === null && path.length === 2 && path[0] === 'params')
        return `write ${field}: {type: string}`;
      if (!Array.isArray(value)) return undefined;
      return field === 'params' ? 'write each param as NAME: {type: …}' : OBJECT_HINTS[field];
    case 'string':
      return typeof value === 'number' || typeof value === 'boolean'
        ? `put it in quotes, as in ${field}: "${exampleText(field, value)}"`
        : undefined;
    case 'integer':
    case 'number':
      return hintForNumber(field, value);
    default:
      return undefined;
  }
}

const OBJECT_HINTS: Readonly<Record<string, string>> = { inputs: 'write each input as NAME: VALUE' };

/** YAML reads 1.0 as the number 1. */
function exampleText(field: string, value: number | boolean): string {
  return field === 'version' && Number.isInteger(value) ? `${value}.0` : String(value);
}

function hintForNumber(field: string, value: unknown): string | undefined {
  if (typeof value === 'string') {
    if (value.includes('{{')) return 'a template cannot stand here: write a number';
    const number = value.trim() === '' ? Number.NaN : Number(value);
    const seconds = Number.isFinite(number) ? number : parseDuration(value);
    return seconds === undefined ? undefined : `write ${field}: ${seconds}`;
  }
  if (field !== 'retry') return undefined;
  if (value === true) return 'write retry: 1, or as many further attempts as may be made';
  return isObject(value)
    ? 'write retry: N, the number of further attempts; retry_delay and max_retry_delay are fields of their own'
    : undefined;
}

const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };

const DURATION = /^(?:\d{1,9}(?:\.\d{1,9})?\s*(?:ms|s|m|h|d)[a-z]{0,7}\s*)+$/i;

/** Reads `5s`, `1h30m`, `250ms` and `10 minutes` as seconds. */
function parseDuration(text: string): number | undefined {
  if (text.length > 40 || !DURATION.test(text)) return undefined;
  const parts = [...text.toLowerCase().matchAll(/([\d.]+)\s*(ms|milli|[smhd])/g)];
  return parts.reduce((sum, [, count, unit = '']) => {
    return sum + Number(count) * (SECONDS[unit === 'milli' ? 'ms' : unit] ?? 0);
  }, 0);
}

/** The types of params under the names that they have in languages and in JSON Schema (D4). */
const TYPE_ALIASES: Readonly<Record<string, string>> = {
  str: 'string',
  text: 'string',
  int: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  decimal: 'number',
  bool: 'boolean',
  array: 'list',
  tuple: 'list',
  dict: 'object',
  map: 'object',
  json: 'object',
};

/** Returns the hint for a value that is not among the allowed ones. */
export function hintForChoice(path: Path, value: unknown, allowed: readonly string[]): string | undefined {
  const word = String(value);
  const type = Object.hasOwn(TYPE_ALIASES, word) ? TYPE_ALIASES[word] : undefined;
  if (path.at(-1) === 'type' && type !== undefined) return `write type: ${type}`;
  const meant = nearest(word, allowed);
  return meant === undefined ? undefined : didYouMean(meant);
}

/** A text with more keys than this was not meant as a list of keys. */
const MAX_GUESSED_KEYS = 12;

function suggestList(
  field: string,
  value: unknown,
  keyLists: Readonly<Record<string, string>>,
): string | undefined {
  const keys = guessKeys(value);
  if (!Object.hasOwn(keyLists, field) || keys.length === 0 || keys.length > MAX_GUESSED_KEYS)
    return undefined;
  const remark = isObject(value) ? (keyLists[field] ?? '') : '';
  return `write ${field}: [${keys.join(', ')}]${remark}`;
}

/** One key, or several separated by commas. */
const KEYS = /^[\w.-]+(?:\s*,\s*[\w.-]+)*$/;

/** Guesses the keys that an author meant with `a`, `a, b` or `{a: ...}` where a list of keys belongs. */
export function guessKeys(value: unknown): readonly string[] {
  if (isObject(value)) return Object.keys(value);
  return typeof value === 'string' && KEYS.test(value) ? value.split(',').map((key) => key.trim()) : [];
}
