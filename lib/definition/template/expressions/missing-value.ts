import { isObject, type Json } from '../../../common/json/json.js';
import { nearest } from '../../did-you-mean.js';
import { formatKey, formatPath, formatSegment, type Segment } from './expression.js';
import { extractJson } from '../extract-json.js';
import { lookUp } from './lookup.js';
import type { TemplateScope } from '../scope.js';

const MAX_LISTED_KEYS = 8;
const MAX_COMPARED_KEYS = 10_000;

/** Where an expression gets its value at run time, and the path from there. */
export interface ValueSource {
  /** The name of the source in the template language: `a.output`, `params`. */
  readonly label: string;
  readonly path: readonly Segment[];
  /** Explains why `read` returns undefined. */
  readonly whenAbsent: string;
  read(scope: TemplateScope, item: Json | undefined): Json | undefined;
}

/** Explains at which segment a path leads nowhere, and which keys exist there (D13). */
export function explainMissing(source: ValueSource, scope: TemplateScope, item: Json | undefined): string {
  let value = source.read(scope, item);
  if (value === undefined) return source.whenAbsent;
  for (const [index, segment] of source.path.entries()) {
    const next = lookUp(value, [segment]);
    if (next === undefined) {
      return explainSegment(value, segment, formatPath(source.label, source.path.slice(0, index)));
    }
    value = next;
  }
  return 'it has no value';
}

function explainSegment(value: Json, segment: Segment, path: string): string {
  const container = typeof value === 'string' ? extractJson(value) : value;
  if (Array.isArray(container)) return explainInList(container, segment, path);
  if (isObject(container)) return explainInObject(container, segment, path);
  if (typeof value === 'string') return explainInText(value, path);
  return value === null ? `${path} is null` : `${path} is a ${typeof value}, which has no fields`;
}

function explainInObject(object: Record<string, unknown>, segment: Segment, path: string): string {
  const keys = Object.keys(object);
  if (segment.kind === 'index') {
    const hint = keys.length === 0 ? '' : `; write a key as ["${segment.index}"]`;
    return `${path} is an object, which has no index ${segment.index}: it has ${listKeys(keys)}${hint}`;
  }
  const meant = nearest(segment.name, keys.slice(0, MAX_COMPARED_KEYS));
  const hint = meant === undefined ? '' : `; did you mean ${formatKey(meant)}?`;
  return `${path} has no ${formatKey(segment.name)}: it has ${listKeys(keys)}${hint}`;
}

function listKeys(keys: readonly string[]): string {
  if (keys.length === 0) return 'no keys';
  const shown = keys.slice(0, MAX_LISTED_KEYS).map(formatKey).join(', ');
  return keys.length > MAX_LISTED_KEYS ? `${shown}, …` : shown;
}

function explainInList(list: readonly Json[], segment: Segment, path: string): string {
  if (list.length === 0) return `${path} is an empty list`;
  const size = `a list of ${list.length}`;
  if (segment.index !== undefined) return `${path} is ${size}, which has no index ${segment.index}`;
  return `${path} is ${size}: select one of its items first, as in ${path}[0]${formatSegment(segment)}`;
}

function explainInText(text: string, path: string): string {
  if (text === '') return `${path} is an empty text`;
  return `${path} is a text that contains no JSON list or object: it has only first, last and length`;
}
