import { BoundedSchema } from '../../../common/json-schema/bounded-schema.js';
import type { CheckBudget } from '../../../common/json-schema/check-budget.js';
import { KEYWORD_TYPES, type KeywordType } from '../../../common/json-schema/value-tests.js';
import { describeNeed } from '../../../common/json-schema/violation.js';
import { isObject, type Json, type JsonObject } from '../../../common/json/json.js';
import { ellipsize } from '../../../common/text.js';
import type { Diagnostic } from '../../../definition/problems/diagnostic.js';
import { type Hint, hintReplace, writeFlow } from '../../../definition/problems/hint.js';
import type { Path } from '../../../definition/problems/problem.js';
import { nearest } from '../../../definition/did-you-mean.js';
import { type KnownValues, MAX_CHOICES } from './known-values.js';

/** No more values are compared with those that there are. */
const MAX_SUGGESTED = 10;

/** A longer text is no misspelt word. */
const MAX_WORD_LENGTH = 200;

interface Contradiction {
  /** The end of the message. */
  readonly reason: string;
  /** From the schema. */
  readonly path: Path;
  readonly hint?: Hint | undefined;
}

/**
 * Finds a condition that never holds, or always, because of the types, the bounds and the choices in its keywords and of its
 * value. It tries values and compares bounds; combinations of schemas are left to the run.
 *
 * @param known of the value, if anything is
 * @param path of the condition
 */
export function* findContradictions(
  schema: JsonObject,
  known: KnownValues | undefined,
  path: Path,
  budget: CheckBudget,
): Generator<Diagnostic> {
  const code = 'invalid_value';
  const found = findContradiction(schema, known, budget);
  if (found !== undefined) {
    const message = `the condition never holds: ${found.reason}`;
    yield { code, message, path: [...path, ...found.path], hint: found.hint };
    return;
  }
  const { not: excluded } = schema;
  if (!isObject(excluded)) return;
  const nothing = findContradiction(excluded, known, budget);
  if (nothing === undefined) return;
  const message = `"not" excludes nothing: ${nothing.reason}`;
  yield { code, message, path: [...path, 'not', ...nothing.path], hint: nothing.hint };
}

function findContradiction(
  schema: JsonObject,
  known: KnownValues | undefined,
  budget: CheckBudget,
): Contradiction | undefined {
  return (
    findTypeContradiction(schema, known) ??
    findBoundContradiction(schema, known) ??
    findValueContradiction(schema, known, budget)
  );
}

/** Compares the types that keywords imply, also those within `not`, with each other and with that of the value (D77). */
function findTypeContradiction(
  schema: JsonObject,
  known: KnownValues | undefined,
): Contradiction | undefined {
  const [first, ...others] = listTypes(schema, []);
  if (first === undefined) return undefined;
  const other = others.find(({ type }) => type !== first.type);
  if (other !== undefined) {
    const reason = `${describeNeed(first)}, and ${describeNeed(other)}`;
    return { reason, path: [] };
  }
  if (known === undefined || known.types.some((type) => isOfType(type, first.type))) return undefined;
  return { reason: `${known.name} is ${known.describe()}, and ${describeNeed(first)}`, path: first.path };
}

interface ImpliedType {
  readonly keyword: string;
  readonly type: KeywordType;
  readonly path: Path;
}

function listTypes(schema: JsonObject, path: Path): ImpliedType[] {
  if (schema['type'] !== undefined) return [];
  return Object.keys(schema).flatMap((keyword) => {
    const type = KEYWORD_TYPES.get(keyword);
    if (type !== undefined) return { keyword, type, path: [...path, keyword] };
    const operand = schema[keyword];
    return keyword === 'not' && isObject(operand) ? listTypes(operand, [...path, keyword]) : [];
  });
}

function isOfType(type: string, wanted: string): boolean {
  return type === wanted || (type === 'integer' && wanted === 'number');
}

/** The keywords that bound the same from below and from above, with the words for each. */
const BOUNDS = [
  ['minimum', 'maximum', 'at least', 'at most'],
  ['exclusiveMinimum', 'maximum', 'above', 'at most'],
  ['minimum', 'exclusiveMaximum', 'at least', 'below'],
  ['exclusiveMinimum', 'exclusiveMaximum', 'above', 'below'],
  ['minLength', 'maxLength', 'at least', 'at most'],
  ['minItems', 'maxItems', 'at least', 'at most'],
  ['minProperties', 'maxProperties', 'at least', 'at most'],
] as const;

function findBoundContradiction(
  schema: JsonObject,
  known: KnownValues | undefined,
): Contradiction | undefined {
  for (const [low, high, above, below] of BOUNDS) {
    const isOpen = low.startsWith('exclusive') || high.startsWith('exclusive');
    const isEmpty = (least: unknown, most: unknown): boolean =>
      typeof least === 'number' && typeof most === 'number' && (isOpen ? least >= most : least > most);
    const { [low]: least, [high]: most } = schema;
    if (isEmpty(least, most)) {
      const reason = `nothing is ${above} ${JSON.stringify(least)} and ${below} ${JSON.stringify(most)}`;
      return { reason, path: [] };
    }
    if (known === undefined || schema['type'] !== undefined) continue;
    const { name, describe, bounds } = known;
    const place = isEmpty(least, bounds[high]) ? low : isEmpty(bounds[low], most) ? high : undefined;
    if (place !== undefined) return { reason: `${name} is ${describe()}`, path: [place] };
  }
  return undefined;
}

/** Tries the values that the value may have, or else those that the condition lists. */
function findValueContradiction(
  schema: JsonObject,
  known: KnownValues | undefined,
  budget: CheckBudget,
): Contradiction | undefined {
  const { const: only, enum: choices } = schema;
  const listed = only === undefined ? (Array.isArray(choices) ? choices : undefined) : [only];
  const tried = known?.values ?? listed;
  if (tried === undefined || tried.length > MAX_CHOICES) return undefined;
  const test = new BoundedSchema(schema, budget, 1, 'implied');
  const allowed = tried.filter((value) => test.findViolations(value).length === 0);
  const isAllowed =
    known === undefined || known.values !== undefined ? () => true : createTest(known, budget);
  if (allowed.some(isAllowed) || budget.isExceeded) return undefined;
  const keyword = only === undefined ? 'enum' : 'const';
  if (known === undefined || (known.values === undefined && allowed.length === 0))
    return { reason: `no value in "${keyword}" satisfies its other keywords`, path: [] };
  const reason = `${known.name} is ${known.describe()}`;
  if (listed === undefined) return { reason, path: [] };
  return { reason, path: [keyword], hint: suggestValues(keyword, listed, known) };
}

function createTest({ types, bounds }: KnownValues, budget: CheckBudget): (value: Json) => boolean {
  const test = new BoundedSchema({ type: [...types], ...bounds }, budget, 1);
  return (value) => test.findViolations(value).length === 0;
}

/** Suggests the values that were probably meant: of the right type, or under the names that they have here. */
function suggestValues(keyword: string, listed: readonly Json[], known: KnownValues): Hint | undefined {
  if (listed.length > MAX_SUGGESTED) return undefined;
  const meant: Json[] = [];
  for (const value of listed) {
    const suggested = suggestValue(value, known);
    if (suggested === undefined) return undefined;
    meant.push(suggested);
  }
  const [only] = meant;
  if (only === undefined) return undefined;
  const value = keyword === 'const' ? only : [...new Set(meant)];
  return hintReplace(`write ${keyword}: ${ellipsize(writeFlow(value, false), 200)}`, value);
}

function suggestValue(value: Json, { values, types, words }: KnownValues): Json | undefined {
  if (typeof value === 'object') return undefined;
  const text = String(value);
  if (text.length > MAX_WORD_LENGTH) return undefined;
  if (values === undefined) return convert(value, types);
  const word = text.toLowerCase();
  const short = values.filter(
    (choice): choice is string | number | boolean =>
      typeof choice !== 'object' && String(choice).length <= MAX_WORD_LENGTH,
  );
  const same = short.find((choice) => String(choice).toLowerCase() === word);
  if (same !== undefined) return same;
  const texts = short.filter((choice) => typeof choice === 'string');
  const translated = words?.get(word);
  return translated !== undefined && texts.includes(translated) ? translated : nearest(text, texts);
}

function convert(value: string | number | boolean, types: KnownValues['types']): Json | undefined {
  if (types.includes('string')) return typeof value === 'string' ? undefined : String(value);
  const isNumeric = types.includes('number') || types.includes('integer');
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
  return isNumeric && Number.isFinite(number) ? number : undefined;
}
