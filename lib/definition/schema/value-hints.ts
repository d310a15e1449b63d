import { UNIT_MS } from '../../common/duration.js';
import { isObject } from '../../common/json/json.js';
import type { Path } from '../problems/problem.js';
import { type Hint, hintRename, hintReplace } from '../problems/hint.js';
import { nearest } from '../did-you-mean.js';
import { HANDLER_LISTS } from './fields.js';

interface WrongType {
  readonly path: Path;
  /** The type of JSON Schema that the value must have. */
  readonly wanted: string;
  readonly value: unknown;
}

/** The fields that are lists of keys, each with a remark for an author who wrote a map there. */
type KeyLists = Readonly<Record<string, string>>;

/** Returns how to write a value that has the wrong type: as a list, in seconds, with or without quotes. */
export function hintForWrongType({ path, wanted, value }: WrongType, keyLists: KeyLists): Hint | undefined {
  const field = String(path.at(-1));
  switch (wanted) {
    case 'array':
      return LISTS_OF_TASKS.includes(field) && (isObject(value) || typeof value === 'string')
        ? 'begin each task with "- id: NAME"'
        : suggestList(field, value, keyLists);
    case 'object':
      if (value === null && path.length === 2 && path[0] === 'params')
        return `write ${field}: {type: string}`;
      if (field === 'repeat') return REPEAT_HINT;
      if (!Array.isArray(value)) return undefined;
      return field === 'params' ? 'write each param as NAME: {type: …}' : OBJECT_HINTS[field];
    case 'string':
      if (field === 'until') return 'write a template, as in until: "{{this.output.done}}"';
      if (path.at(-1) === 'when') return 'write a template, as in when: "{{params.NAME}}", or remove it';
      return field === 'parallel_over' ? hintForItems(value) : hintForText(field, value);
    case 'integer':
    case 'number':
      if (field === 'at_most' && typeof value === 'string' && parseWords(value) !== undefined)
        return WAIT_HINT;
      return hintForNumber(field, value, wanted);
    default:
      return undefined;
  }
}

const LISTS_OF_TASKS: readonly string[] = ['tasks', ...HANDLER_LISTS];

const OBJECT_HINTS: Readonly<Record<string, string>> = { inputs: 'write each input as NAME: VALUE' };

const REPEAT_HINT = 'write repeat: {until: "{{this.output.done}}", every: 30s, at_most: 20}';

/** How long a task repeats is no field of its own. */
export const WAIT_HINT =
  'at_most is a number of rounds: it waits for at most that many times "every"; a strict limit is "timeout" of the pipeline, or of one that run_pipeline runs';

function hintForText(field: string, value: unknown): Hint | undefined {
  if (typeof value !== 'number' && typeof value !== 'boolean') return undefined;
  // YAML reads 1.0 as the number 1.
  const text = field === 'version' && Number.isInteger(value) ? `${value}.0` : String(value);
  return hintReplace(`put it in quotes, as in ${field}: "${text}"`, text);
}

/**
 * Returns how to write the value of `parallel_over`, when it is no template: a list of values is an input of the
 * pipeline (D6).
 */
export function hintForItems(value: unknown): Hint {
  const isList = Array.isArray(value) || (typeof value === 'string' && LIST_TEXT.test(value));
  if (typeof value === 'string' && BARE_PATH.test(value)) {
    const template = `{{${value.trim()}}}`;
    return hintReplace(`write "${template}"`, template);
  }
  if (!isList) return 'write "{{TASK.output}}", with nothing around it';
  return joinTexts(value).includes('{{')
    ? 'write a single template, such as "{{TASK.output}}"; a transform task can make a list of several values'
    : 'put the list under "inputs" of the pipeline and write "{{pipeline.inputs.NAME}}"';
}

/** A path without its braces: `params.urls`. */
const BARE_PATH = /^\s*[A-Za-z_][\w-]{0,100}(?:\.[\w-]{1,100}){1,10}\s*$/;

const LIST_TEXT = /^\s*\[[^]*\]\s*$/;

function hintForNumber(field: string, value: unknown, wanted: 'integer' | 'number'): Hint | undefined {
  if (typeof value === 'string') {
    if (value.includes('{{')) return 'a template cannot stand here: write a number';
    const number = readNumber(field, value);
    const isValid = number !== undefined && (wanted === 'number' || Number.isInteger(number));
    return isValid ? hintReplace(`write ${field}: ${number}`, number) : undefined;
  }
  if (field !== 'retry') return undefined;
  if (value === true) return hintReplace('write retry: 1, or as many further attempts as may be made', 1);
  return isObject(value)
    ? 'write retry: N, the number of further attempts; retry_delay and max_retry_delay are fields of their own'
    : undefined;
}

/** Returns how to write a text that is no duration (D82): a number, or the words of other products as seconds. */
export function hintForDuration(path: Path, text: string): Hint | undefined {
  return hintForNumber(String(path.at(-1)), text, 'number');
}

/** The fields that are durations; only these have units in other products. */
const TIMES: ReadonlySet<string> = new Set([
  'timeout',
  'retry_delay',
  'max_retry_delay',
  'ttl',
  'keep',
  'every',
]);

function readNumber(field: string, text: string): number | undefined {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isFinite(number)) return number;
  return TIMES.has(field) ? parseWords(text) : undefined;
}

/** The words of each unit elsewhere; anything else, as in `5 months`, is no duration. */
const UNIT_WORDS: readonly (readonly [unit: keyof typeof UNIT_MS, words: RegExp])[] = [
  ['ms', /^(?:ms|milliseconds?)$/],
  ['s', /^(?:s|secs?|seconds?)$/],
  ['m', /^(?:m|mins?|minutes?)$/],
  ['h', /^(?:h|hours?)$/],
  ['d', /^(?:d|days?)$/],
];

const DURATION_WORDS = /^\s*(?:\d{1,9}(?:\.\d{1,9})?\s*[a-z]{1,12}\s*)+$/;

/** Reads `10 minutes`, `5 S` and `2h 30 min` as seconds. */
function parseWords(text: string): number | undefined {
  const lowerCased = text.toLowerCase();
  if (text.length > 40 || !DURATION_WORDS.test(lowerCased)) return undefined;
  let sum = 0;
  for (const [, count, word = ''] of lowerCased.matchAll(/([\d.]+)\s*([a-z]+)/g)) {
    const found = UNIT_WORDS.find(([, words]) => words.test(word));
    if (found === undefined) return undefined;
    sum += Number(count) * UNIT_MS[found[0]];
  }
  return sum / 1000;
}

/** The types of params under the names that they have in languages and in JSON Schema (D4). */
const TYPE_ALIASES = Object.entries({
  string: ['str', 'text'],
  integer: ['int', 'long'],
  number: ['float', 'double', 'decimal'],
  boolean: ['bool'],
  list: ['array', 'tuple'],
  object: ['dict', 'map', 'json'],
});

/** Returns the hint for a value that is not among the allowed ones. */
export function hintForChoice(path: Path, value: unknown, allowed: readonly string[]): Hint | undefined {
  const word = String(value);
  const [type] = TYPE_ALIASES.find(([, aliases]) => aliases.includes(word)) ?? [];
  if (path.at(-1) === 'type' && type !== undefined) return hintReplace(`write type: ${type}`, type);
  const meant = nearest(word, allowed);
  return meant === undefined ? undefined : hintRename(word, meant);
}

/** A text with more keys than this was not meant as a list of keys. */
const MAX_GUESSED_KEYS = 12;

function suggestList(field: string, value: unknown, keyLists: KeyLists): Hint | undefined {
  const keys = guessKeys(value);
  if (!Object.hasOwn(keyLists, field) || keys.length === 0 || keys.length > MAX_GUESSED_KEYS)
    return undefined;
  const remark = isObject(value) ? (keyLists[field] ?? '') : '';
  return hintReplace(`write ${field}: [${keys.join(', ')}]${remark}`, [...keys]);
}

/** One key, or several separated by commas. */
const KEYS = /^[\w.-]+(?:\s*,\s*[\w.-]+)*$/;

/** Guesses the keys that an author meant with `a`, `a, b` or `{a: ...}` where a list of keys belongs. */
export function guessKeys(value: unknown): readonly string[] {
  if (isObject(value)) return Object.keys(value);
  return typeof value === 'string' && KEYS.test(value) ? value.split(',').map((key) => key.trim()) : [];
}

/** How much of a value is searched; more is hardly written by hand. */
const MAX_SEARCHED = { parts: 1000, length: 10_000 };

/** Joins the texts of a value, of a long one those at its beginning. */
export function joinTexts(value: unknown): string {
  const texts: string[] = [];
  let { parts, length } = MAX_SEARCHED;
  const visit = (part: unknown): void => {
    if (--parts < 0 || length < 0) return;
    if (typeof part === 'string') {
      texts.push(part.slice(0, length));
      length -= part.length;
    } else if (typeof part === 'object' && part !== null) {
      for (const key in part) {
        if (parts <= 0 || length <= 0) return;
        visit((part as Record<string, unknown>)[key]);
      }
    }
  };
  visit(value);
  return texts.join('\n');
}
