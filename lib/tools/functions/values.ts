import { ToolError } from '../../common/errors.js';
import { isObject, type Json, type JsonObject, setOwn } from '../../common/json.js';
import { MAX_FUNCTION_FIELDS, MAX_FUNCTION_LIST, MAX_FUNCTION_TEXT } from '../../common/limits.js';
import { formatMebibytes } from '../../common/text.js';
import { FIELD_NOT_FOUND } from '../schemas/schema.js';

/**
 * Reads a list: a list as it is, or the JSON list in a text, whatever prose is around it. Anything else is an empty list,
 * since a model may answer in words.
 *
 * @throws ToolError, not retryable, when the list or the text is too long
 */
export function readList(value: Json): Json[] {
  const parsed = typeof value === 'string' ? parseBetween(value, '[', ']') : value;
  if (!Array.isArray(parsed)) return [];
  if (parsed.length <= MAX_FUNCTION_LIST) return parsed;
  throw ToolError.nonRetryable(`a list has ${parsed.length} elements: at most ${MAX_FUNCTION_LIST} are read`);
}

/**
 * Reads a list of objects, one for each period; elements that are no objects become empty objects.
 *
 * @throws ToolError, not retryable, when they have too many fields together
 */
export function readRecords(value: Json): JsonObject[] {
  const records = readList(value).map((record) => (isObject(record) ? record : {}));
  const fields = records.reduce((sum, record) => sum + Object.keys(record).length, 0);
  if (fields <= MAX_FUNCTION_FIELDS) return records;
  throw ToolError.nonRetryable(
    `a list of objects has ${fields} fields: at most ${MAX_FUNCTION_FIELDS} are read, so split the list`,
  );
}

/** Reads an object, or the JSON object in a text; anything else is an empty object. */
export function readObject(value: Json): JsonObject {
  const read = typeof value === 'string' ? parseBetween(value, '{', '}') : value;
  return isObject(read) ? read : {};
}

/** Parses from the first opening bracket to the last closing one, so in linear time; undefined when that is no JSON. */
function parseBetween(text: string, open: string, close: string): Json | undefined {
  if (text.length > MAX_FUNCTION_TEXT) {
    throw ToolError.nonRetryable(`a text with JSON is longer than ${formatMebibytes(MAX_FUNCTION_TEXT)}`);
  }
  const start = text.indexOf(open);
  const end = text.lastIndexOf(close);
  if (start < 0 || end < start) return undefined;
  try {
    const parsed: Json = JSON.parse(text.slice(start, end + 1));
    return parsed;
  } catch {
    return undefined;
  }
}

/** Whether a field has a value that was found. */
export function isFound(value: Json | undefined): value is Json {
  return value !== undefined && value !== null && value !== FIELD_NOT_FOUND && value !== '';
}

/** Reads an amount as documents have it: `1,234`, `(56)` for -56, `$7`, `8 %`. Undefined for anything else. */
export function readAmount(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.length > MAX_AMOUNT_LENGTH) return undefined;
  const isNegative = /^\(.*\)$/.test(value.trim());
  const digits = value.replaceAll(/[\s,$€£%()]/g, '').replace('−', '-');
  if (!/^[-+]?(?:\d+\.?\d*|\.\d+)$/.test(digits)) return undefined;
  return isNegative ? -Math.abs(Number(digits)) : Number(digits);
}

const MAX_AMOUNT_LENGTH = 100;

/** Writes a whole amount as text. */
export function formatAmount(amount: number): string {
  return String(Math.round(amount));
}

/** Writes a number with at least one and at most two places: `60.0`, `16.67`. */
export function formatPlaces(value: number): string {
  const rounded = Number(value.toFixed(2));
  return Number.isInteger(rounded) ? rounded.toFixed(1) : String(rounded);
}

/** Returns a copy of an object with further fields. */
export function withFields(record: JsonObject, fields: readonly (readonly [string, Json])[]): JsonObject {
  const copy: JsonObject = { ...record };
  for (const [key, value] of fields) setOwn(copy, key, value);
  return copy;
}

/** Writes a key as an identifier, in any script: `Income Before Taxes` is `income_before_taxes`; empty without letters. */
export function toSlug(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replaceAll(/^_|_$/g, '');
}
