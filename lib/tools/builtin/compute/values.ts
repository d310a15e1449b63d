import { ToolError } from '../../../common/errors.js';
import { isObject, type Json, type JsonObject, setOwn } from '../../../common/json/json.js';
import {
  MAX_FUNCTION_FIELDS,
  MAX_FUNCTION_KEY,
  MAX_FUNCTION_LIST,
  MAX_FUNCTION_TEXT,
} from '../../../common/limits.js';
import { StepCounter } from '../../../common/scheduling/steps.js';
import { formatMebibytes } from '../../../common/text.js';
import { FIELD_NOT_FOUND } from '../../schemas/schema.js';

/** The input with the records of all periods. */
export const RECORDS_INPUT = {
  required: true,
  description: 'one object per period, in a list or in a text with a JSON list',
} as const;

/**
 * Reads the lists and objects among the arguments of one call, within limits for all of them together: the same object may
 * be named thousands of times, and counts each time.
 */
export class ArgumentReader {
  #fields = 0;
  #keyLength = 0;
  #textLength = 0;

  /**
   * Reads a list: a list as it is, or the JSON list in a text, whatever prose is around it. Anything else is an empty list,
   * since a model may answer in words.
   *
   * @throws ToolError, not retryable, when the list or the text is too long
   */
  readonly readList = (value: Json): Json[] => {
    const parsed = typeof value === 'string' ? this.#parseBetween(value, '[', ']') : value;
    if (!Array.isArray(parsed)) return [];
    if (parsed.length <= MAX_FUNCTION_LIST) return parsed;
    throw ToolError.nonRetryable(
      `a list has ${parsed.length} elements: at most ${MAX_FUNCTION_LIST} are read`,
    );
  };

  /**
   * Reads a list of objects, one for each period; elements that are no objects become empty objects.
   *
   * @throws ToolError, not retryable, when they have too many fields together, or too long keys
   */
  readonly readRecords = (value: Json): JsonObject[] => {
    const records = this.readList(value).map((record) => (isObject(record) ? record : {}));
    for (const record of records) this.#count(Object.keys(record));
    return records;
  };

  /** Reads an object, or the JSON object in a text; anything else is an empty object. */
  readObject(value: Json): JsonObject {
    const read = typeof value === 'string' ? this.#parseBetween(value, '{', '}') : value;
    return isObject(read) ? read : {};
  }

  /** Fails at the first key too many: what follows may be ten thousand times as much. */
  #count(keys: readonly string[]): void {
    this.#fields += keys.length;
    if (this.#fields > MAX_FUNCTION_FIELDS)
      throw ToolError.nonRetryable(
        `the lists of objects have more than ${MAX_FUNCTION_FIELDS} fields, an object counting each time it is in ` +
          'them: no more are read, so split the lists',
      );
    for (const { length } of keys) {
      this.#keyLength += length;
      if (length <= MAX_FUNCTION_KEY) continue;
      throw ToolError.nonRetryable(
        `an object has a key of ${length} characters: at most ${MAX_FUNCTION_KEY} are read, so shorten it`,
      );
    }
    if (this.#keyLength <= MAX_FUNCTION_TEXT) return;
    throw ToolError.nonRetryable(
      `the keys of the objects are longer than ${formatMebibytes(MAX_FUNCTION_TEXT)} together, an object counting each ` +
        'time it is in a list: split the lists',
    );
  }

  /** Parses from the first opening bracket to the last closing one, so in linear time; undefined when that is no JSON. */
  #parseBetween(text: string, open: string, close: string): Json | undefined {
    this.#textLength += text.length;
    if (this.#textLength > MAX_FUNCTION_TEXT)
      throw ToolError.nonRetryable(
        `the texts with JSON are longer than ${formatMebibytes(MAX_FUNCTION_TEXT)} together: pass lists or split them`,
      );
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
}

/** Work that takes half a millisecond: reading a field takes one part, an empty object five. */
const PARTS_OF_STEP = 300;

const PARTS_OF_RECORD = 5;

/** Letters of keys whose reading takes one part. */
const LETTERS_OF_PART = 40;

/** Measures the work of one call, to say when a step is over. */
export class StepMeter {
  readonly #counter = new StepCounter(PARTS_OF_STEP);

  /** Counts the work on an object, besides that on its fields. */
  readonly isOverAfterRecord = (): boolean => this.#isOver(PARTS_OF_RECORD);

  readonly isOverAfterField = (key: string): boolean => this.#isOver(1 + key.length / LETTERS_OF_PART);

  #isOver(parts: number): boolean {
    this.#counter.add(parts);
    return this.#counter.isOver();
  }
}

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
