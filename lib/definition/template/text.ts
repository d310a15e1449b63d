import type { Json } from '../../common/json.js';
import { TemplateError } from './template-error.js';

/** Most characters that a rendered text may have: 10 MiB. */
export const TEXT_LIMIT = 10 * 1024 * 1024;

const DEPTH_LIMIT = 1000;
const TOO_DEEP = -Infinity;

/** A value as part of a text (D10). Throws a TemplateError that names `path` when it is too large or too deep. */
export function textOf(value: Json, path: string): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  return typeof value === 'object' ? jsonOf(value, path) : String(value);
}

/** `text` and `addition`, if they fit the limit together. */
export function joined(text: string, addition: string, path: string): string {
  if (text.length + addition.length > TEXT_LIMIT) failAtSize(path);
  return text + addition;
}

/**
 * Values are measured before they are written: as values are shared, a small one may be gigabytes of JSON.
 */
function jsonOf(value: Json, path: string): string {
  const left = remaining(TEXT_LIMIT, value, 0);
  if (left === TOO_DEEP) throw new TemplateError(path, `the value nests deeper than ${DEPTH_LIMIT} levels`);
  if (left < 0) failAtSize(path);
  return JSON.stringify(value);
}

function failAtSize(path: string): never {
  throw new TemplateError(path, 'the rendered text is over 10 MiB');
}

/** What is left of `limit` after the JSON of `value`, escapes not counted; negative as soon as it is too small. */
function remaining(limit: number, value: Json, depth: number): number {
  if (typeof value === 'string') return limit - value.length - 2;
  if (typeof value !== 'object' || value === null) return limit - 1;
  if (depth > DEPTH_LIMIT) return TOO_DEEP;
  return Array.isArray(value) ? afterList(limit, value, depth) : afterObject(limit, value, depth);
}

function afterList(limit: number, list: readonly Json[], depth: number): number {
  let left = limit - 2;
  for (const member of list) {
    if (left < 0) break;
    left = remaining(left - 1, member, depth + 1);
  }
  return left;
}

function afterObject(limit: number, object: { readonly [key: string]: Json }, depth: number): number {
  let left = limit - 2;
  for (const [key, member] of Object.entries(object)) {
    if (left < 0) break;
    left = remaining(left - key.length - 4, member, depth + 1);
  }
  return left;
}
