import type { Json } from '../common/json.js';

/**
 * What stands at a key after an append (Blackboard, rule 4; D23): a list grows, an absent key becomes a list of
 * one, and a value that is no list becomes the first of two.
 */
export function appended(existing: Json | undefined, value: Json): Json[] {
  if (existing === undefined) return [value];
  return Array.isArray(existing) ? [...existing, value] : [existing, value];
}
