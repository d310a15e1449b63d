import { isObject, type Json, kindOf } from '../common/json.js';

/** The types a parameter can have (D4). */
export type ParamType = (typeof PARAM_TYPES)[number];

const PARAM_TYPES = ['string', 'integer', 'number', 'boolean', 'list', 'object'] as const;

/** Says whether it is one; definitions that are not checked yet may hold anything in its place. */
export function isParamType(type: unknown): type is ParamType {
  return PARAM_TYPES.some((known) => known === type);
}

export type Coerced =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly expected: string };

/** Makes a value one of the type, where nothing is lost by it; lists and objects are never coerced (D4). */
export function coerce(value: Json, type: ParamType): Coerced {
  switch (type) {
    case 'string':
      return isScalarValue(value) ? { ok: true, value: String(value) } : { ok: false, expected: 'text' };
    case 'integer':
      return integerOf(value);
    case 'number':
      return numberOf(value);
    case 'boolean':
      return booleanOf(value);
    case 'list':
      return Array.isArray(value) ? { ok: true, value } : { ok: false, expected: 'a list' };
    case 'object':
      return isObject(value) ? { ok: true, value } : { ok: false, expected: 'an object' };
  }
}

function isScalarValue(value: Json): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(kindOf(value));
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

function numberOf(value: Json): Coerced {
  const number = typeof value === 'string' && DECIMAL.test(value.trim()) ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return { ok: true, value: number };
  return { ok: false, expected: 'a number' };
}

/** A fraction is never made whole, and a number past the exact ones is not taken for another. */
function integerOf(value: Json): Coerced {
  const number = numberOf(value);
  if (number.ok && Number.isSafeInteger(number.value)) return number;
  return { ok: false, expected: 'a whole number' };
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['false', false],
  ['0', false],
  ['no', false],
]);

function booleanOf(value: Json): Coerced {
  if (typeof value === 'boolean') return { ok: true, value };
  const boolean = isScalarValue(value) ? BOOLEANS.get(String(value).trim().toLowerCase()) : undefined;
  return boolean === undefined ? { ok: false, expected: 'true or false' } : { ok: true, value: boolean };
}
