import { ALLOWED_KEYWORDS, REFUSED_KEYWORDS } from '../../../common/json-schema/keywords.js';
import { isObject, type Json } from '../../../common/json/json.js';
import { ellipsize, joinFirst } from '../../../common/text.js';
import { nearest } from '../../../definition/did-you-mean.js';
import {
  type Hint,
  hintRename,
  hintReplace,
  hintRewrite,
  writeFlow,
} from '../../../definition/problems/hint.js';
import { normalizeWord } from '../../../definition/schema/foreign-word.js';

/** Words of other products for a comparison, by the keyword that it is here. */
const WORDS: Readonly<Record<string, string>> = {
  exclusiveMinimum: 'gt greater_than more_than above',
  minimum: 'gte ge min greater_or_equal greater_than_or_equal at_least',
  exclusiveMaximum: 'lt less_than below under',
  maximum: 'lte le max less_or_equal less_than_or_equal at_most',
  const: 'equals eq equal equal_to is expected expect expected_value ==',
  enum: 'in one_of any_of_values values choices',
  pattern: 'matches match regex regexp',
  anyOf: 'any or some',
  allOf: 'all and',
};

const KEYWORDS = new Map(
  Object.entries(WORDS).flatMap(([keyword, words]) =>
    words.split(' ').map((word) => [normalizeWord(word), keyword]),
  ),
);

const OPPOSITES: Readonly<Record<string, string>> = {
  const: 'ne neq not_equals not_equal not_equal_to !=',
  enum: 'not_in nin none_of',
  pattern: 'not_matches not_match',
};

const NEGATED = new Map(
  Object.entries(OPPOSITES).flatMap(([keyword, words]) =>
    words.split(' ').map((word) => [normalizeWord(word), keyword]),
  ),
);

/** Returns the hint for a keyword that conditions do not have. @param operand the value under it */
export function hintForKeyword(keyword: string, operand: Json | undefined): Hint {
  const word = normalizeWord(keyword);
  const meant = KEYWORDS.get(word);
  if (meant !== undefined) return hintRename(keyword, meant);
  const negated = NEGATED.get(word);
  if (negated !== undefined) return hintRewrite(keyword, 'not', { [negated]: operand ?? null });
  if (REFUSED_KEYWORDS.has(keyword))
    return 'let a task with the tool transform compute what the condition looks at';
  const similar = nearest(keyword, ALLOWED_KEYWORDS);
  return similar === undefined
    ? `a condition may have ${joinFirst(ALLOWED_KEYWORDS, 30)}`
    : hintRename(keyword, similar);
}

/** Returns the hint for `not` with a value, or with a list of them, in place of keywords. */
export function hintForNot(operand: Json | undefined): Hint | undefined {
  if (operand === undefined || isObject(operand)) return undefined;
  const schema = { [Array.isArray(operand) ? 'enum' : 'const']: operand };
  return hintReplace(`write not: ${ellipsize(writeFlow(schema, false), 200)}`, schema);
}

/** The part of a schema at a path. */
export function valueAt(schema: Json, path: readonly (string | number)[]): Json | undefined {
  let value: Json | undefined = schema;
  for (const key of path) {
    if (Array.isArray(value)) value = value[Number(key)];
    else value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}
