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
import { mapWords, normalizeWord } from '../../../definition/schema/foreign-word.js';

/** The keywords that other products have other words for. */
const KEYWORDS = mapWords([
  ['gt greater_than more_than above', 'exclusiveMinimum'],
  ['gte ge min greater_or_equal greater_than_or_equal at_least', 'minimum'],
  ['lt less_than below under', 'exclusiveMaximum'],
  ['lte le max less_or_equal less_than_or_equal at_most', 'maximum'],
  ['equals eq equal equal_to is expected expect expected_value ==', 'const'],
  ['in one_of any_of_values values choices', 'enum'],
  ['matches match regex regexp', 'pattern'],
  ['any or some', 'anyOf'],
  ['all and', 'allOf'],
]);

/** The keywords that stand under `not` here, for which other products have a word of their own. */
const NEGATED = mapWords([
  ['ne neq not_equals not_equal not_equal_to !=', 'const'],
  ['not_in nin none_of', 'enum'],
  ['not_matches not_match', 'pattern'],
]);

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
