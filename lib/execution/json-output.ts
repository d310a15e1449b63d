import { isAnyArrayBuffer, isDate } from 'node:util/types';
import { errorMessage } from '../common/errors.js';
import { type Json, MEMBER_BYTES, OBJECT_BYTES, setOwn, STRING_BYTES } from '../common/json.js';
import { formatMebibytes } from '../common/text.js';
import type { Steps } from '../definition/steps.js';

/**
 * The output of a tool as JSON (D24). What a tool returns is copied into plain, frozen JSON before anyone else sees it,
 * so that no tool can change what another one reads. A value that JSON cannot hold fails the task with a message that
 * names it; nothing is cut or dropped silently.
 */
export type JsonOutput =
  | {
      readonly ok: true;
      readonly value: Json;
      readonly artifacts: readonly Artifact[];
      /** Approximate memory, in bytes. */
      readonly sizeBytes: number;
    }
  | { readonly ok: false; readonly error: string };

/** Bytes that a tool returned, to be written to a file; the output contains a reference to it. */
export interface Artifact {
  readonly path: string;
  readonly bytes: Uint8Array;
}

interface CopyOptions {
  /** Maximum size of the output as JSON text, in characters. */
  readonly limitBytes: number;
  /** Creates the path of the next artifact. */
  readonly artifactPath: () => string;
}

/** Copies what a tool returned; `undefined` becomes null. */
export function toJsonOutput(returned: unknown, options: CopyOptions): JsonOutput {
  const copier = new JsonCopier(options);
  try {
    const value = copier.copy(returned, 0);
    return { ok: true, value, artifacts: copier.artifacts, sizeBytes: copier.sizeBytes };
  } catch (error) {
    return { ok: false, error: `the output ${describeCopyError(error)}` };
  }
}

/** Copies like `toJsonOutput`, at once when the value is short; undefined when it has too many parts for that. */
export function toShortJsonOutput(returned: unknown, options: CopyOptions): JsonOutput | undefined {
  const copier = new JsonCopier(options, SHORT_VALUE);
  try {
    const value = copier.copy(returned, 0);
    return { ok: true, value, artifacts: copier.artifacts, sizeBytes: copier.sizeBytes };
  } catch (error) {
    return error instanceof LongValueError
      ? undefined
      : { ok: false, error: `the output ${describeCopyError(error)}` };
  }
}

/** Copies like `toJsonOutput`, in steps. */
export function* toJsonOutputInSteps(returned: unknown, options: CopyOptions): Steps<JsonOutput> {
  const copier = new JsonCopier(options);
  try {
    const value = yield* copier.copyInSteps(returned, 0);
    return { ok: true, value, artifacts: copier.artifacts, sizeBytes: copier.sizeBytes };
  } catch (error) {
    return { ok: false, error: `the output ${describeCopyError(error)}` };
  }
}

/**
 * Copies a value of a caller or a blackboard into frozen JSON, and measures its approximate memory.
 *
 * @throws Error with the reason as the end of a sentence: `holds a function, which JSON cannot hold`
 */
export function copyToJson(value: unknown): { readonly json: Json; readonly sizeBytes: number } {
  const copier = new JsonCopier({ limitBytes: Number.POSITIVE_INFINITY, artifactPath: () => '' });
  let json: Json;
  try {
    json = copier.copy(value, 0);
  } catch (error) {
    throw new Error(describeCopyError(error), { cause: error });
  }
  if (copier.artifacts.length > 0) throw new Error('holds bytes, which JSON cannot hold');
  return { json, sizeBytes: copier.sizeBytes };
}

/** Copies like `copyToJson`, in steps; copying the result again takes no time. */
export function* copyToJsonInSteps(value: unknown): Steps<Json> {
  const copier = new JsonCopier({ limitBytes: Number.POSITIVE_INFINITY, artifactPath: () => '' });
  try {
    return yield* copier.copyInSteps(value, 0);
  } catch (error) {
    throw new Error(describeCopyError(error), { cause: error });
  }
}

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

/**
 * Copies each value of a record into frozen JSON, and visits the copies when all values are valid.
 *
 * @throws Error as `copyToJson`
 */
export function forEachFrozen(values: object, visit: (key: string, json: Json) => void): void {
  const record = (isPlain(values) && !Array.isArray(values) ? values : copyToJson(values).json) as Readonly<
    Record<string, unknown>
  >;
  const keys = Object.keys(record);
  // Copied as a list: a second object with as many keys would take twice as long as the copies.
  const copies = copyToJson(keys.map((key) => record[key])).json as readonly Json[];
  for (const [position, key] of keys.entries()) {
    if (record[key] !== undefined) visit(key, copies[position] as Json);
  }
}

function describeCopyError(error: unknown): string {
  return error instanceof NotJsonError ? error.message : `could not be read: ${errorMessage(error)}`;
}

/** Names what JSON cannot hold; the message is the end of a sentence. */
class NotJsonError extends Error {}

/** A value has too many parts to be copied at once. */
class LongValueError extends Error {}

/** A value with at most this many parts takes some milliseconds to copy. */
const SHORT_VALUE = 5000;
const STEP_VALUES = 1000;

const MAX_DEPTH = 500;
const MIN_CACHED_BYTES = 1024;
const NO_ARTIFACTS: Artifact[] = [];

/** Memory of a number that is no small whole number, besides its text. */
const FRACTION_BYTES = 16;

/** Measures of large copies: values that tasks pass on are neither copied nor measured again. */
const measuredCopies = new WeakMap<
  object,
  { readonly jsonBytes: number; readonly height: number; readonly sizeBytes: number }
>();

/** Copies one value into frozen JSON and measures it. */
class JsonCopier {
  artifacts: Artifact[] = NO_ARTIFACTS;
  /** Approximate memory, in bytes. */
  sizeBytes = 0;
  #jsonBytes = 0;
  #maxDepth = 0;
  #values = 0;
  /** Members that were copied in steps. */
  #stepped = 0;
  readonly #options: CopyOptions;
  readonly #maxValues: number;

  /** @param maxValues number of parts after which copying throws a LongValueError */
  constructor(options: CopyOptions, maxValues = Number.POSITIVE_INFINITY) {
    this.#options = options;
    this.#maxValues = maxValues;
  }

  /** Copies like `copy`, in steps. */
  *copyInSteps(value: unknown, depth: number): Steps<Json> {
    if (typeof value !== 'object' || value === null || !isPlain(value)) return this.copy(value, depth);
    if (this.#findCopy(value, depth)) return value as Json;
    const [jsonBytes, sizeBytes, maxDepth] = [this.#jsonBytes, this.sizeBytes, this.#maxDepth];
    this.sizeBytes += OBJECT_BYTES;
    this.#maxDepth = depth;
    const copy = Array.isArray(value)
      ? yield* this.#copyListInSteps(value, depth)
      : yield* this.#copyRecordInSteps(value as Record<string, unknown>, depth);
    return this.#keepMeasure(copy, depth, jsonBytes, sizeBytes, maxDepth);
  }

  *#copyListInSteps(list: readonly unknown[], depth: number): Steps<Json> {
    this.#count(2 + list.length);
    const copy = new Array<Json>(list.length);
    for (let i = 0; i < copy.length; i++) {
      const member = list[i];
      if (++this.#stepped % STEP_VALUES === 0) yield;
      copy[i] = isContainer(member)
        ? yield* this.copyInSteps(member, depth + 1)
        : this.copy(member, depth + 1);
    }
    return Object.freeze(copy) as Json[];
  }

  *#copyRecordInSteps(record: Record<string, unknown>, depth: number): Steps<Json> {
    if (hasSymbolKey(record)) throw new NotJsonError('has a symbol as a key, which JSON cannot hold');
    const copy: Record<string, Json> = {};
    this.#count(2);
    for (const key of Object.keys(record)) {
      const member = record[key];
      if (member === undefined) continue;
      if (++this.#stepped % STEP_VALUES === 0) yield;
      this.#countKey(key);
      const json = isContainer(member)
        ? yield* this.copyInSteps(member, depth + 1)
        : this.copy(member, depth + 1);
      setOwn(copy, key, json);
    }
    return Object.freeze(copy);
  }

  copy(value: unknown, depth: number): Json {
    switch (typeof value) {
      case 'string':
        this.#count(value.length + 2);
        this.sizeBytes += STRING_BYTES;
        return value;
      case 'number':
        if (!Number.isFinite(value)) throw new NotJsonError(`holds ${value}, which JSON has no number for`);
        this.#count(8);
        if ((value | 0) !== value) this.sizeBytes += FRACTION_BYTES;
        return value;
      case 'boolean':
        this.#count(5);
        return value;
      case 'undefined':
        this.#count(4);
        return null;
      case 'object':
        return value === null ? this.copy(undefined, depth) : this.#copyObject(value, depth);
      default:
        throw new NotJsonError(`holds a ${typeof value}, which JSON cannot hold`);
    }
  }

  #copyObject(value: object, depth: number): Json {
    if (this.#findCopy(value, depth)) return value as Json;
    const jsonBytes = this.#jsonBytes;
    const { sizeBytes } = this;
    const maxDepth = this.#maxDepth;
    this.sizeBytes += OBJECT_BYTES;
    this.#maxDepth = depth;
    const copy = Array.isArray(value) ? this.#copyList(value, depth) : this.#copyRecord(value, depth);
    return this.#keepMeasure(copy, depth, jsonBytes, sizeBytes, maxDepth);
  }

  /** Returns true when the value is a copy that was measured before, and counts it. */
  #findCopy(value: object, depth: number): boolean {
    const measured = Object.isFrozen(value) ? measuredCopies.get(value) : undefined;
    this.#enterDepth(depth + (measured?.height ?? 0));
    if (measured === undefined) return false;
    this.#count(measured.jsonBytes);
    this.sizeBytes += measured.sizeBytes - measured.jsonBytes;
    return true;
  }

  /** Keeps the measure of a large copy. The numbers are those from before it was made. */
  #keepMeasure(copy: Json, depth: number, jsonBefore: number, sizeBefore: number, maxDepth: number): Json {
    const jsonBytes = this.#jsonBytes - jsonBefore;
    if (jsonBytes >= MIN_CACHED_BYTES && isContainer(copy)) {
      const height = this.#maxDepth - depth;
      measuredCopies.set(copy, { jsonBytes, height, sizeBytes: this.sizeBytes - sizeBefore });
    }
    if (maxDepth > this.#maxDepth) this.#maxDepth = maxDepth;
    return copy;
  }

  #enterDepth(depth: number): void {
    if (depth > MAX_DEPTH) throw new NotJsonError(`has a cycle, or more than ${MAX_DEPTH} levels`);
    if (depth > this.#maxDepth) this.#maxDepth = depth;
  }

  /** Copies the elements; what a list has besides, as a match of a RegExp has, is no part of it. */
  #copyList(list: readonly unknown[], depth: number): Json {
    this.#count(2 + list.length);
    const copy = new Array<Json>(list.length);
    for (let i = 0; i < list.length; i++) copy[i] = this.copy(list[i], depth + 1);
    return Object.freeze(copy) as Json[];
  }

  #copyRecord(value: object, depth: number): Json {
    if (!isPlain(value)) {
      const replacement = this.#copyInstance(value, depth);
      if (replacement !== undefined) return replacement;
    }
    if (hasSymbolKey(value)) throw new NotJsonError('has a symbol as a key, which JSON cannot hold');
    const copy: Record<string, Json> = {};
    this.#count(2);
    for (const key of Object.keys(value)) {
      const member = (value as Record<string, unknown>)[key];
      if (member === undefined) continue;
      this.#countKey(key);
      setOwn(copy, key, this.copy(member, depth + 1));
    }
    return Object.freeze(copy);
  }

  /** Converts an instance of a class; undefined when its own properties are its JSON. */
  #copyInstance(value: object, depth: number): Json | undefined {
    if (ArrayBuffer.isView(value)) {
      return this.#addArtifact(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    }
    if (isAnyArrayBuffer(value)) return this.#addArtifact(new Uint8Array(value));
    if (isDate(value) && Number.isNaN(value.getTime())) {
      throw new NotJsonError('holds an invalid Date, which JSON has no text for');
    }
    if ('toJSON' in value && typeof value.toJSON === 'function') {
      return this.copy((value.toJSON as () => unknown)(), depth + 1);
    }
    if (value instanceof Error) throw new NotJsonError('holds an Error: throw it instead of returning it');
    const kind = Object.prototype.toString.call(value).slice('[object '.length, -1);
    if (kind !== 'Object' || Object.keys(value).length === 0) {
      const name = kind === 'Object' ? value.constructor.name || 'class instance' : kind;
      throw new NotJsonError(`holds a ${name}, which JSON cannot hold`);
    }
    return undefined;
  }

  #addArtifact(bytes: Uint8Array): Json {
    const path = this.#options.artifactPath();
    if (this.artifacts === NO_ARTIFACTS) this.artifacts = [];
    this.artifacts.push({ path, bytes });
    return this.copy({ path, media_type: 'application/octet-stream', size: bytes.byteLength }, 0);
  }

  #countKey(key: string): void {
    this.#count(key.length + 4);
    this.sizeBytes += MEMBER_BYTES;
  }

  #count(bytes: number): void {
    if (++this.#values > this.#maxValues) throw new LongValueError();
    this.#jsonBytes += bytes;
    this.sizeBytes += bytes;
    if (this.#jsonBytes > this.#options.limitBytes) {
      const limit = formatMebibytes(this.#options.limitBytes);
      throw new NotJsonError(`is larger than the limit of ${limit}: return less, or a file`);
    }
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Returns true for a list, and for an object that is no instance of a class. */
function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function hasSymbolKey(value: object): boolean {
  for (const symbol of Object.getOwnPropertySymbols(value)) {
    if (Object.prototype.propertyIsEnumerable.call(value, symbol)) return true;
  }
  return false;
}
