import type { Json } from '../common/json.js';

/** A value with at most this many parts takes some milliseconds to copy. */
export const SHORT_VALUE = 5000;

/** Whether a value has too many parts to be copied at once. Looks at no more of them than that. */
export function isLongValue(value: unknown): boolean {
  return subtractParts(value, SHORT_VALUE) < 0;
}

function subtractParts(value: unknown, left: number): number {
  let rest = left - 1;
  if (!isContainer(value)) return rest;
  for (const key in value) {
    if (rest < 0) break;
    rest = subtractParts((value as Record<string, unknown>)[key], rest);
  }
  return rest;
}

/** Whether the value is a frozen list of what its copy holds too: of scalars, and of what was copied before. */
export function isEqualFrozenList(value: object, copy: Json): boolean {
  if (!Array.isArray(value) || !Array.isArray(copy) || !Object.isFrozen(value)) return false;
  return value.every((member, position) => member === copy[position]);
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Returns true for a list, and for an object that is no instance of a class. */
export function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Whether JSON would lose a member. */
export function hasSymbolKey(value: object): boolean {
  for (const symbol of Object.getOwnPropertySymbols(value)) {
    if (Object.prototype.propertyIsEnumerable.call(value, symbol)) return true;
  }
  return false;
}
