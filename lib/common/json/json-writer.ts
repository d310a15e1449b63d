import type { Steps } from '../scheduling/steps.js';
import { ellipsize, endOfPiece } from '../text.js';

/** About as many characters are written at once, and a shorter text is written whole. */
export const CHUNK_LENGTH = 64 * 1024;

/** Returns true if a JSON value is short enough to be written at once. Looks at no more of it than that. */
export function isShortJson(value: unknown): boolean {
  return subtractLength(value, CHUNK_LENGTH) >= 0;
}

/** About how many characters the JSON text of a value has. Looks at no more of it than `limit`. */
export function estimateLength(value: unknown, limit: number): number {
  return limit - subtractLength(value, limit);
}

/** Writes the beginning of a value for a message: all of one that contains a list many times may have gigabytes. */
export function writeStart(value: unknown, most: number): string {
  return ellipsize(new JsonWriter(value, most + 1).next(), most);
}

/** Returns the JSON text of a value, as JSON.stringify would, in steps. */
export function* writeJsonInSteps(value: unknown): Steps<string> {
  if (isShortJson(value)) return JSON.stringify(value);
  yield;
  const writer = new JsonWriter(value);
  let text = '';
  for (let chunk = writer.next(); chunk !== ''; chunk = writer.next()) {
    text += chunk;
    yield;
  }
  return text;
}

/** Writes a JSON value in chunks, as JSON.stringify would, without ever holding the whole text. */
export class JsonWriter {
  readonly #parts: Part[] = [];
  readonly #chunkLength: number;
  /** The keys of objects that have many, until they are written: listing very many keys takes long. */
  readonly #keys: KeysByObject = new Map();
  /** How many large lists and objects were written inside each other, at most. */
  depth = 0;
  #chunk = '';

  constructor(value: unknown, chunkLength = CHUNK_LENGTH) {
    this.#chunkLength = chunkLength;
    this.write(value);
  }

  /** The next chunk; empty after the last one. */
  next(): string {
    for (let part = this.#parts.at(-1); part !== undefined; part = this.#parts.at(-1)) {
      if (this.isChunkFull) break;
      if (!part.writeNext(this)) this.#parts.pop();
    }
    const chunk = this.#chunk;
    this.#chunk = '';
    joinParts(chunk);
    return chunk;
  }

  get isChunkFull(): boolean {
    return this.#chunk.length >= this.#chunkLength;
  }

  append(text: string): void {
    this.#chunk += text;
  }

  /** Writes a value: a small one at once, a large one part by part. */
  write(value: unknown): void {
    if (this.subtractLength(value, SMALL_LENGTH) >= 0) this.#chunk += JSON.stringify(value) ?? 'null';
    else if (typeof value === 'string') this.#push(new StringPart(value));
    else if (Array.isArray(value)) this.#push(new ListPart(value));
    else this.#push(this.#openObject(value as Readonly<Record<string, unknown>>));
  }

  /** Subtracts the length of a value as JSON, roughly, from `left`. Stops as soon as the result is negative. */
  subtractLength(value: unknown, left: number): number {
    return subtractLength(value, left, this.#keys);
  }

  #push(part: Part): void {
    const depth = this.#parts.push(part);
    if (depth > this.depth) this.depth = depth;
  }

  #openObject(object: Readonly<Record<string, unknown>>): Part {
    const keys = this.#keys.get(object) ?? Object.keys(object);
    this.#keys.delete(object);
    return new ObjectPart(object, keys);
  }
}

/** V8 joins the parts of a text when it is first read: now, rather than those of all chunks at once. */
function joinParts(text: string): void {
  text.charCodeAt(0);
}

/** A value that is being written. */
interface Part {
  /** Writes until the chunk is full, or until a part of the part comes first. Returns false after the end. */
  writeNext(writer: JsonWriter): boolean;
}

/** For a smaller value, JSON.stringify is faster than looking at its parts. */
const SMALL_LENGTH = 512;

/** About as many characters of small members are written together. */
const RUN_LENGTH = 1024;

class ListPart implements Part {
  readonly #list: readonly unknown[];
  #position = 0;

  constructor(list: readonly unknown[]) {
    this.#list = list;
  }

  writeNext(writer: JsonWriter): boolean {
    const { length } = this.#list;
    if (this.#position === length) {
      writer.append(this.#position === 0 ? '[]' : ']');
      return false;
    }
    writer.append(this.#position === 0 ? '[' : ',');
    const end = this.#endOfRun(writer);
    if (end > this.#position) {
      writer.append(JSON.stringify(this.#list.slice(this.#position, end)).slice(1, -1));
      this.#position = end;
    } else writer.write(this.#list[this.#position++]);
    return true;
  }

  /** Small members are written together, which is many times as fast as one by one. */
  #endOfRun(writer: JsonWriter): number {
    let end = this.#position;
    for (let left = RUN_LENGTH; end < this.#list.length; end++) {
      left = writer.subtractLength(this.#list[end], left);
      if (left < 0) break;
    }
    return end;
  }
}

class ObjectPart implements Part {
  readonly #object: Readonly<Record<string, unknown>>;
  readonly #keys: readonly string[];
  #position = 0;
  #separator = '{';

  constructor(object: Readonly<Record<string, unknown>>, keys: readonly string[]) {
    this.#object = object;
    this.#keys = keys;
  }

  writeNext(writer: JsonWriter): boolean {
    const key = this.#keys[this.#position++];
    if (key === undefined) {
      writer.append(this.#separator === '{' ? '{}' : '}');
      return false;
    }
    const value = this.#object[key];
    // JSON.stringify omits them too.
    if (value === undefined) return true;
    writer.append(`${this.#separator}${JSON.stringify(key)}:`);
    this.#separator = ',';
    writer.write(value);
    return true;
  }
}

const PIECE_LENGTH = 16 * 1024;

class StringPart implements Part {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  writeNext(writer: JsonWriter): boolean {
    if (this.#position === 0) writer.append('"');
    // JSON.stringify escapes each half of a character that is alone.
    const end = endOfPiece(this.#text, this.#position, PIECE_LENGTH);
    writer.append(JSON.stringify(this.#text.slice(this.#position, end)).slice(1, -1));
    this.#position = end;
    if (end < this.#text.length) return true;
    writer.append('"');
    return false;
  }
}

/** The cost of a list or an object besides its text, so that no value is nested deeply enough to overflow the stack. */
const NESTING_LENGTH = 32;

/** An object with more keys is longer than {@link SMALL_LENGTH}. */
const MANY_KEYS = 64;

type KeysByObject = Map<object, readonly string[]>;

/**
 * Subtracts the length of a value as JSON, roughly, from `left`. Stops as soon as the result is negative.
 *
 * @param keysByObject receives the keys of an object that has many, and is too large for that
 */
function subtractLength(value: unknown, left: number, keysByObject?: KeysByObject): number {
  if (typeof value === 'string') return left - value.length - 4;
  if (typeof value !== 'object' || value === null) return left - 8;
  let rest = left - NESTING_LENGTH;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && rest >= 0; index++) {
      rest = subtractLength(value[index], rest, keysByObject);
    }
    return rest;
  }
  if (keysByObject?.has(value) === true) return -1;
  const keys = Object.keys(value);
  if (keysByObject !== undefined && keys.length > MANY_KEYS) {
    keysByObject.set(value, keys);
    return -1;
  }
  for (let index = 0; index < keys.length && rest >= 0; index++) {
    const key = keys[index] ?? '';
    rest = subtractLength((value as Record<string, unknown>)[key], rest - key.length, keysByObject);
  }
  return rest;
}
