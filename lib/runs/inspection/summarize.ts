import { type Json, type JsonObject, setOwn } from '../../common/json/json.js';
import { cutText } from '../../common/text.js';

const MAX_TEXT_LENGTH = 1000;

/** Parts that are deeper inside a value are replaced. */
const MAX_DEPTH = 8;

/**
 * Returns what an inspector shows of any value: JSON of about `limit` characters, made without looking at more of the
 * value than that, however large it is. Functions become their names, and Maps and Sets objects and lists.
 */
export function summarize(value: unknown, limit: number): Json {
  return new Summary(limit).of(value, 0);
}

class Summary {
  /** Characters left. */
  #left: number;

  constructor(limit: number) {
    this.#left = limit;
  }

  of(value: unknown, depth: number): Json {
    this.#left -= 2;
    switch (typeof value) {
      case 'string':
        this.#left -= Math.min(value.length, MAX_TEXT_LENGTH);
        return cutText(value, MAX_TEXT_LENGTH);
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'boolean':
        return value;
      case 'function':
        return { type: value.name };
      case 'object':
        return value === null ? null : this.#ofObject(value, depth);
      case 'undefined':
        return null;
      case 'bigint':
      case 'symbol':
        return cutText(value.toString(), MAX_TEXT_LENGTH);
    }
  }

  #ofObject(value: object, depth: number): Json {
    if (depth >= MAX_DEPTH || this.#left < 0) return '…';
    if (value instanceof Error) return this.of({ name: value.name, message: value.message }, depth + 1);
    if ('toJSON' in value && typeof value.toJSON === 'function') return this.of(value.toJSON(), depth + 1);
    if (value instanceof Map) return this.#ofEntries(value.entries(), value.size, depth);
    if (value instanceof Set) return this.#ofList(value.values(), value.size, depth);
    if (Array.isArray(value)) return this.#ofList(value.values(), value.length, depth);
    return this.#ofEntries(entriesOf(value), undefined, depth);
  }

  #ofList(list: Iterable<unknown>, length: number, depth: number): Json[] {
    const shown: Json[] = [];
    for (const member of list) {
      if (this.#left < 0) {
        shown.push(`… and ${length - shown.length} more`);
        break;
      }
      shown.push(this.of(member, depth + 1));
    }
    return shown;
  }

  #ofEntries(entries: Iterable<readonly [unknown, unknown]>, count: number | undefined, depth: number): Json {
    const shown: JsonObject = {};
    let shownCount = 0;
    for (const [key, member] of entries) {
      if (this.#left < 0) {
        setOwn(shown, '…', count === undefined ? 'and more' : `and ${count - shownCount} more`);
        break;
      }
      if (member === undefined) continue;
      const name = cutText(String(key), MAX_TEXT_LENGTH);
      this.#left -= name.length + 2;
      setOwn(shown, name, this.of(member, depth + 1));
      shownCount++;
    }
    return shown;
  }
}

/** `Object.entries` would read all entries at once. */
function* entriesOf(value: object): Generator<readonly [string, unknown]> {
  for (const key in value) {
    if (Object.hasOwn(value, key)) yield [key, (value as Record<string, unknown>)[key]];
  }
}
