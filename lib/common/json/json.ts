import { runToEnd, type Steps } from '../scheduling/steps.js';

/** A JSON value: everything that is passed between tasks, tools and callers (D24). */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** Returns true for an object with keys: neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sets an own property, even one that is named `__proto__`. */
export function setOwn(target: object, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    (target as Record<string, unknown>)[key] = value;
  }
}

/** Names the kind of a value: `null`, `list`, `object`, `string`, … */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value;
}

/** Names the kind of a value with its article: `a list`, `an object`, `null`. */
export function describeKind(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  const kind = kindOf(value);
  return `${kind === 'object' ? 'an' : 'a'} ${kind}`;
}

/** Formats the keys and indexes that lead to a value as a JSON pointer (RFC 6901). */
export function toJsonPointer(path: readonly (string | number)[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The keys of a JSON pointer, indexes as texts; what is before its first `/` is ignored. */
export function parseJsonPointer(pointer: string): string[] {
  const parts = pointer.split('/').slice(1);
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the value if it is a list, and an empty list otherwise. */
export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Memory of a text, of a list or an object, and of each member of an object, besides their JSON, on average in V8. */
export const STRING_BYTES = 16;
export const OBJECT_BYTES = 56;
export const MEMBER_BYTES = 16;

const TWO_BYTE_LETTER = /[\u0100-\uffff]/;

/** Memory of the letters of a text: V8 takes two bytes for each when one of them needs two. */
export function measureLetters(text: string): number {
  // V8 does not search a text of one-byte letters.
  return TWO_BYTE_LETTER.test(text) ? 2 * text.length : text.length;
}

/** Memory of an object that has a key that no object before has had, besides what every one takes. */
const NEW_SHAPE_BYTES = 120;

/** Memory of such a key: V8 describes each step of an object's growth, up to so many keys, and makes a hash table then. */
const NEW_KEY_BYTES = 160;
const HASHED_KEY_BYTES = 106;
const MAX_DESCRIBED_KEYS = 128;

/** So many members are not looked at: most values are smaller, and the memory of their keys does not matter. */
const FREE_MEMBERS = 64;

/** So many keys are remembered; then they count as new again. */
const MAX_REMEMBERED_KEYS = 10_000;

/** Measures the keys of one value: V8 keeps equal ones once, and describes objects with the same keys once. */
export class KeyMeter {
  #members = 0;
  #seen: Set<string> | undefined;
  /** Of the object that was begun. */
  #newKeys = 0;

  beginObject(): void {
    this.#newKeys = 0;
  }

  /** Forgets what was measured. Returns false when that would take long. */
  reset(): boolean {
    this.#members = 0;
    return this.#seen === undefined;
  }

  /** Returns the memory of a key of the object that was begun, unless an object before it has that key. */
  measure(key: string): number {
    if (++this.#members <= FREE_MEMBERS) return 0;
    if (this.#seen === undefined || this.#seen.size > MAX_REMEMBERED_KEYS) this.#seen = new Set();
    if (this.#seen.has(key)) return 0;
    this.#seen.add(key);
    if (++this.#newKeys > MAX_DESCRIBED_KEYS) return HASHED_KEY_BYTES;
    return this.#newKeys === 1 ? NEW_SHAPE_BYTES + NEW_KEY_BYTES : NEW_KEY_BYTES;
  }
}

/** Estimates the bytes that a JSON value occupies in memory. Many small objects occupy far more than their text. */
export function estimateBytes(value: unknown): number {
  return runToEnd(estimateBytesInSteps(value));
}

/** The letters of longer keys are counted; those of others are within what a key takes. */
const LONG_KEY = 16;

const MEMBERS_PER_STEP = 20_000;

export function* estimateBytesInSteps(value: unknown): Steps<number> {
  const pending: object[] = [];
  const keys = new KeyMeter();
  let bytes = estimateMember(value, pending);
  let members = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    bytes += estimateOne(next);
    if (++members % MEMBERS_PER_STEP === 0) yield;
    if (Array.isArray(next)) {
      for (let index = 0; index < next.length; index++) {
        bytes += estimateMember(next[index], pending);
        if (++members % MEMBERS_PER_STEP === 0) yield;
      }
      continue;
    }
    keys.beginObject();
    // Object.values would take twice as long for an object with very many keys.
    for (const key in next) {
      bytes += estimateMember((next as Record<string, unknown>)[key], pending) + keys.measure(key);
      if (key.length > LONG_KEY) bytes += measureLetters(key);
      if (++members % MEMBERS_PER_STEP === 0) yield;
    }
  }
  return bytes;
}

function estimateMember(member: unknown, pending: object[]): number {
  if (typeof member !== 'object' || member === null) return estimateOne(member);
  pending.push(member);
  return 0;
}

function estimateOne(value: unknown): number {
  if (typeof value === 'string') return measureLetters(value) + STRING_BYTES;
  return typeof value === 'object' && value !== null ? 8 + OBJECT_BYTES : 8;
}

/** Deeper values are not measured. */
export const MAX_JSON_DEPTH = 1000;

/** The rest of a limit when the value is nested deeper than {@link MAX_JSON_DEPTH}. */
export const TOO_DEEP = -Infinity;

/**
 * Subtracts the length of a value as JSON text from `limit`, escapes not counted; stops as soon as that is negative. A
 * value that contains the same list many times is small in memory, and its text may have gigabytes.
 *
 * @param keysOf lists the keys of an object; default: each time anew
 */
export function subtractJsonLength(
  limit: number,
  value: Json,
  keysOf: (object: JsonObject) => readonly string[] = Object.keys,
  depth = 0,
): number {
  if (typeof value === 'string') return limit - value.length - 2;
  if (typeof value !== 'object' || value === null) return limit - 1;
  if (depth > MAX_JSON_DEPTH) return TOO_DEEP;
  let left = limit - 2;
  if (Array.isArray(value)) {
    for (const member of value) {
      if (left < 0) break;
      left = subtractJsonLength(left - 1, member, keysOf, depth + 1);
    }
    return left;
  }
  if (left < 0) return left;
  for (const key of keysOf(value)) {
    if (left < 0) break;
    left = subtractJsonLength(left - key.length - 4, value[key] ?? null, keysOf, depth + 1);
  }
  return left;
}

/** A value with at most this many parts takes some milliseconds to copy. */
export const SHORT_VALUE = 5000;

/** Returns true if a value has too many parts to be copied at once. Looks at no more of them than that. */
export function isLongValue(value: unknown): boolean {
  return subtractParts(value, SHORT_VALUE) < 0;
}

function subtractParts(value: unknown, left: number): number {
  let rest = left - 1;
  if (!isListOrObject(value)) return rest;
  for (const key in value) {
    if (rest < 0) break;
    rest = subtractParts((value as Record<string, unknown>)[key], rest);
  }
  return rest;
}

/** Returns true if the value is a frozen list with the members of its copy: scalars, and values copied before. */
export function isEqualFrozenList(value: object, copy: Json): boolean {
  if (!Array.isArray(value) || !Array.isArray(copy) || !Object.isFrozen(value)) return false;
  return value.every((member, position) => member === copy[position]);
}

export function isListOrObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Returns true for a list, and for an object that is no instance of a class. */
export function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Returns true if JSON would lose a member. */
export function hasSymbolKey(value: object): boolean {
  for (const symbol of Object.getOwnPropertySymbols(value)) {
    if (Object.prototype.propertyIsEnumerable.call(value, symbol)) return true;
  }
  return false;
}
