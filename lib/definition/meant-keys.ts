import { isObject } from '../common/json.js';

/** One key, or several with commas. */
const KEYS = /^[\w.-]+(?:\s*,\s*[\w.-]+)*$/;

/** The keys of one who wrote `a`, `a, b` or `{a: ...}` where a list of keys belongs; none when it was none of these. */
export function meantKeys(value: unknown): readonly string[] {
  if (isObject(value)) return Object.keys(value);
  return typeof value === 'string' && KEYS.test(value) ? value.split(',').map((key) => key.trim()) : [];
}
