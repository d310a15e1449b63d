import { isObject, type Json, kindOf } from '../common/json.js';

/**
 * What a blackboard gave, which somebody else may have made.
 *
 * @throws Error, as the end of a sentence, when it is no object of keys and values
 */
export function keyedIn(stored: unknown): Record<string, Json> {
  if (isObject(stored)) return stored as Record<string, Json>;
  throw new Error(`it gave ${kindOf(stored)}, and no object of keys and values`);
}
