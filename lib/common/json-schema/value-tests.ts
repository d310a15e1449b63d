import { isListOrObject, isObject, type Json } from '../json/json.js';
import type { CheckBudget } from './check-budget.js';

/** Returns true if a value satisfies one keyword. */
export type ValueTest = (value: unknown) => boolean;

type TypeName = 'string' | 'integer' | 'number' | 'boolean' | 'list' | 'array' | 'object' | 'null';

/** The types of JSON Schema, and `list`: the word of params for an array (D4). */
export const TYPE_TESTS: Readonly<Record<TypeName, ValueTest>> = {
  string: (value) => typeof value === 'string',
  integer: Number.isInteger,
  number: Number.isFinite,
  boolean: (value) => typeof value === 'boolean',
  list: Array.isArray,
  array: Array.isArray,
  object: isObject,
  null: (value) => value === null,
};

/** The types of which keywords are. */
export type KeywordType = 'string' | 'number' | 'array' | 'object';

const KEYWORDS_BY_TYPE: Readonly<Record<KeywordType, string>> = {
  number: 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf',
  string: 'minLength maxLength pattern',
  array: 'items prefixItems minItems maxItems',
  object: 'properties required additionalProperties minProperties maxProperties',
};

/** By keyword, the type of value that it is about: JSON Schema lets it hold of any other value. */
export const KEYWORD_TYPES: ReadonlyMap<string, KeywordType> = new Map(
  (['number', 'string', 'array', 'object'] as const).flatMap((type) =>
    KEYWORDS_BY_TYPE[type].split(' ').map((keyword) => [keyword, type] as const),
  ),
);

/** Makes the test of a keyword that contains no schemas; undefined for other keywords, and for annotations. */
export function createValueTest(keyword: string, operand: Json, budget: CheckBudget): ValueTest | undefined {
  const bound = typeof operand === 'number' ? operand : 0;
  switch (keyword) {
    case 'type':
      return createTypeTest(operand as TypeName | TypeName[]);
    case 'enum':
      return createEqualityTest(operand as Json[], budget);
    case 'const':
      return createEqualityTest([operand], budget);
    case 'minimum':
      return (value) => typeof value !== 'number' || value >= bound;
    case 'maximum':
      return (value) => typeof value !== 'number' || value <= bound;
    case 'exclusiveMinimum':
      return (value) => typeof value !== 'number' || value > bound;
    case 'exclusiveMaximum':
      return (value) => typeof value !== 'number' || value < bound;
    case 'multipleOf':
      return (value) => typeof value !== 'number' || Number.isInteger(value / bound);
    case 'minLength':
      return (value) => typeof value !== 'string' || hasLength(value, bound, budget);
    case 'maxLength':
      return (value) => typeof value !== 'string' || !hasLength(value, bound + 1, budget);
    case 'pattern':
      return createPatternTest(operand as string, budget);
    case 'minItems':
      return (value) => !Array.isArray(value) || value.length >= bound;
    case 'maxItems':
      return (value) => !Array.isArray(value) || value.length <= bound;
    case 'minProperties':
      return (value) => !isObject(value) || countKeys(value, budget) >= bound;
    case 'maxProperties':
      return (value) => !isObject(value) || countKeys(value, budget) <= bound;
    default:
      return undefined;
  }
}

function createTypeTest(operand: TypeName | readonly TypeName[]): ValueTest {
  const tests = [operand].flat().map((type) => TYPE_TESTS[type]);
  const [only] = tests;
  return tests.length === 1 && only !== undefined ? only : (value) => tests.some((test) => test(value));
}

/** Compares with many values as fast as with one. */
function createEqualityTest(values: readonly Json[], budget: CheckBudget): ValueTest {
  budget.take(values.length);
  const scalars = new Set<unknown>(values.filter((value) => !isListOrObject(value)));
  const composites = new Set(values.filter(isListOrObject).map((value) => toCanonicalText(value, budget)));
  return (value) => {
    if (!isListOrObject(value)) return scalars.has(value);
    return composites.size > 0 && composites.has(toCanonicalText(value, budget));
  };
}

/** How many characters are compared or counted in one step. */
const CHARACTERS_PER_STEP = 8;

/** Steps for listing a key, or for visiting a value that is compared: both take longer than a test. */
export const STEPS_PER_ENTRY = 4;

/** Returns the same text for equal values, whatever the order of their keys. */
function toCanonicalText(value: unknown, budget: CheckBudget): string {
  if (!isListOrObject(value)) {
    const length = typeof value === 'string' ? value.length : 1;
    return budget.take(STEPS_PER_ENTRY + length / CHARACTERS_PER_STEP) ? JSON.stringify(value) : '';
  }
  if (!budget.take(STEPS_PER_ENTRY)) return '';
  if (Array.isArray(value)) return `[${value.map((item) => toCanonicalText(item, budget)).join()}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${toCanonicalText(key, budget)}:${toCanonicalText(item, budget)}`).join()}}`;
}

/** Returns true if a text has at least this many characters: code points, as JSON Schema counts them. */
function hasLength(text: string, least: number, budget: CheckBudget): boolean {
  if (text.length < least) return false;
  if (text.length >= 2 * least || !budget.take(text.length / CHARACTERS_PER_STEP)) return true;
  let count = 0;
  for (const _ of text) count++;
  return count >= least;
}

function createPatternTest(pattern: string, budget: CheckBudget): ValueTest {
  const compiled = budget.pattern(pattern);
  return (value) => typeof value !== 'string' || (compiled.ok && compiled.test(value) !== false);
}

function countKeys(value: object, budget: CheckBudget): number {
  const { length } = Object.keys(value);
  budget.take(STEPS_PER_ENTRY * length);
  return length;
}
