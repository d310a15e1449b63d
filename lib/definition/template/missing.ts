import { isObject, type Json } from '../../common/json.js';
import { nearest } from '../suggest.js';
import type { Segment } from './expression.js';
import { jsonIn, lookUp } from './lookup.js';
import type { Origin } from './reference.js';
import type { Scope } from './scope.js';
import { spell, spellKey, spellSegment } from './template-error.js';

const LISTED_KEYS = 8;
const COMPARED_KEYS = 10_000;

/** Says where a path ends before its end, and what exists there (D13). */
export function whyMissing(origin: Origin, scope: Scope, item: Json | undefined): string {
  let value = origin.read(scope, item);
  if (value === undefined) return origin.absence;
  for (const [at, segment] of origin.path.entries()) {
    const next = lookUp(value, [segment]);
    if (next === undefined) return whyNot(value, segment, spell(origin.label, origin.path.slice(0, at)));
    value = next;
  }
  return 'it has no value';
}

function whyNot(value: Json, segment: Segment, where: string): string {
  const held = typeof value === 'string' ? jsonIn(value) : value;
  if (Array.isArray(held)) return whyNotInList(held, segment, where);
  if (isObject(held)) return whyNotInObject(held, segment, where);
  if (typeof value === 'string') return whyNotInText(value, where);
  return value === null ? `${where} is null` : `${where} is a ${typeof value}, which has no fields`;
}

function whyNotInObject(object: Record<string, unknown>, segment: Segment, where: string): string {
  const keys = Object.keys(object);
  if (segment.kind === 'index') {
    const hint = keys.length === 0 ? '' : `; a key is written ["${segment.index}"]`;
    return `${where} is an object, which has no index ${segment.index}: it has ${listed(keys)}${hint}`;
  }
  const meant = nearest(segment.name, keys.slice(0, COMPARED_KEYS));
  const hint = meant === undefined ? '' : `; did you mean ${spellKey(meant)}?`;
  return `${where} has no ${spellKey(segment.name)}: it has ${listed(keys)}${hint}`;
}

function listed(keys: readonly string[]): string {
  if (keys.length === 0) return 'no keys';
  const shown = keys.slice(0, LISTED_KEYS).map(spellKey).join(', ');
  return keys.length > LISTED_KEYS ? `${shown}, …` : shown;
}

function whyNotInList(list: readonly Json[], segment: Segment, where: string): string {
  if (list.length === 0) return `${where} is an empty list`;
  const size = `a list of ${list.length}`;
  if (segment.kind === 'index') return `${where} is ${size}, which has no index ${segment.index}`;
  return `${where} is ${size}: take one of its items first, as in ${where}[0]${spellSegment(segment)}`;
}

function whyNotInText(text: string, where: string): string {
  if (text === '') return `${where} is an empty text`;
  return `${where} is a text that holds no JSON list or object: it has first, last and length only`;
}
