import { isAnyArrayBuffer, isDate } from 'node:util/types';
import { errorMessage } from '../common/errors.js';
import { type Json, setOwn } from '../common/json.js';
import { formatMebibytes } from '../common/text.js';

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

/**
 * Copies each value of a record into frozen JSON, and visits the copies when all values are valid.
 *
 * @throws Error as `copyToJson`
 */
export function forEachFrozen(values: object, visit: (key: string, json: Json) => void): void {
  const prototype: unknown = Object.getPrototypeOf(values);
  const isPlain = prototype === null || prototype === Object.prototype;
  const record = (isPlain ? values : copyToJson(values).json) as Readonly<Record<string, unknown>>;
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

const MAX_DEPTH = 500;
const MIN_CACHED_BYTES = 1024;
const NO_ARTIFACTS: Artifact[] = [];

/**
 * Memory that values take besides the length of their JSON, on average of V8's ways to store them. Texts in two-byte
 * letters take up to twice as much, and objects of which no two have the same keys up to five times.
 */
const OBJECT_BYTES = 56;
const STRING_BYTES = 16;
const FRACTION_BYTES = 16;
const MEMBER_BYTES = 16;

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
  readonly #options: CopyOptions;

  constructor(options: CopyOptions) {
    this.#options = options;
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
    const measured = Object.isFrozen(value) ? measuredCopies.get(value) : undefined;
    this.#enterDepth(depth + (measured?.height ?? 0));
    if (measured !== undefined) {
      this.#count(measured.jsonBytes);
      this.sizeBytes += measured.sizeBytes - measured.jsonBytes;
      return value as Json;
    }
    const jsonBytesBefore = this.#jsonBytes;
    const sizeBytesBefore = this.sizeBytes;
    const maxDepthBefore = this.#maxDepth;
    this.sizeBytes += OBJECT_BYTES;
    this.#maxDepth = depth;
    const copy = Array.isArray(value) ? this.#copyList(value, depth) : this.#copyRecord(value, depth);
    const jsonBytes = this.#jsonBytes - jsonBytesBefore;
    if (jsonBytes >= MIN_CACHED_BYTES && typeof copy === 'object' && copy !== null) {
      const height = this.#maxDepth - depth;
      measuredCopies.set(copy, { jsonBytes, height, sizeBytes: this.sizeBytes - sizeBytesBefore });
    }
    if (maxDepthBefore > this.#maxDepth) this.#maxDepth = maxDepthBefore;
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
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) {
      const replacement = this.#copyInstance(value, depth);
      if (replacement !== undefined) return replacement;
    }
    if (hasSymbolKey(value)) throw new NotJsonError('has a symbol as a key, which JSON cannot hold');
    const copy: Record<string, Json> = {};
    this.#count(2);
    for (const key of Object.keys(value)) {
      const member = (value as Record<string, unknown>)[key];
      if (member === undefined) continue;
      this.#count(key.length + 4);
      this.sizeBytes += MEMBER_BYTES;
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

  #count(bytes: number): void {
    this.#jsonBytes += bytes;
    this.sizeBytes += bytes;
    if (this.#jsonBytes > this.#options.limitBytes) {
      const limit = formatMebibytes(this.#options.limitBytes);
      throw new NotJsonError(`is larger than the limit of ${limit}: return less, or a file`);
    }
  }
}

function hasSymbolKey(value: object): boolean {
  for (const symbol of Object.getOwnPropertySymbols(value)) {
    if (Object.prototype.propertyIsEnumerable.call(value, symbol)) return true;
  }
  return false;
}
