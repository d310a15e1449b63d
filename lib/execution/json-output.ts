import { isAnyArrayBuffer } from 'node:util/types';
import { messageOf } from '../common/errors.js';
import { type Json, setOwn } from '../common/json.js';

/**
 * Outputs are JSON (D24): what a tool returns is copied into plain, frozen JSON before anyone else sees it, so
 * that no tool can change what another one reads. What JSON cannot hold fails the task with a message that names
 * the place; nothing is cut or dropped silently.
 */
export type Output =
  | {
      readonly ok: true;
      readonly value: Json;
      readonly artifacts: readonly Artifact[];
      /** What it takes in memory, in bytes, roughly. */
      readonly weight: number;
    }
  | { readonly ok: false; readonly error: string };

/** Copies what a tool returned; `undefined` becomes null. */
export function toOutput(returned: unknown, options: CopyOptions): Output {
  const copy = new JsonCopy(options);
  try {
    const value = copy.of(returned, 0);
    return { ok: true, value, artifacts: copy.artifacts, weight: copy.weight };
  } catch (error) {
    return { ok: false, error: `the output ${complaintOf(error)}` };
  }
}

/**
 * The same for values that come from callers and blackboards: tools may look at them and not change them.
 *
 * @throws Error that says what JSON cannot hold, as the end of a sentence
 */
function frozenJson(value: unknown): Json {
  return weighedJson(value).json;
}

/** The same for each value of a map, at the cost of one; none is handed over unless all are sound. */
export function eachFrozen(values: object, take: (key: string, json: Json) => void): void {
  const prototype: unknown = Object.getPrototypeOf(values);
  const plain = prototype === null || prototype === Object.prototype ? values : frozenJson(values);
  const map = plain as Readonly<Record<string, unknown>>;
  const keys = Object.keys(map);
  // As a list: a second object of as many keys would take twice as long as the copies.
  const copies = frozenJson(keys.map((key) => map[key])) as readonly Json[];
  for (const [position, key] of keys.entries()) {
    if (map[key] !== undefined) take(key, copies[position] as Json);
  }
}

/** The same, with what it takes in memory, in bytes, roughly. */
export function weighedJson(value: unknown): { readonly json: Json; readonly weight: number } {
  const copy = new JsonCopy({ limitBytes: Number.POSITIVE_INFINITY, artifactPath: () => '' });
  let json: Json;
  try {
    json = copy.of(value, 0);
  } catch (error) {
    throw new Error(complaintOf(error), { cause: error });
  }
  if (copy.artifacts.length > 0) throw new Error('holds bytes, which JSON cannot hold');
  return { json, weight: copy.weight };
}

function complaintOf(error: unknown): string {
  return error instanceof NotJson ? error.message : `could not be read: ${messageOf(error)}`;
}

/** Bytes that a tool returned, to be written to a file; their reference stands in the output. */
interface Artifact {
  readonly path: string;
  readonly bytes: Uint8Array;
}

interface CopyOptions {
  /** Largest size of the output as JSON, in bytes (roughly: characters). */
  readonly limitBytes: number;
  /** Where the next artifact goes. */
  readonly artifactPath: () => string;
}

const DEEPEST = 500;
const REMEMBERED_FROM_BYTES = 1024;

/** Large values that were copied before: data handed on from task to task is neither copied nor measured again. */
const known = new WeakMap<
  object,
  { readonly size: number; readonly height: number; readonly weight: number }
>();

/** Says what JSON cannot hold, as the end of a sentence. */
class NotJson extends Error {}

const NO_ARTIFACTS: Artifact[] = [];

/** What a list or an object takes beside what it holds. */
const OBJECT_BYTES = 56;

/** One copy of a value as frozen JSON, and what it weighs. */
class JsonCopy {
  artifacts: Artifact[] = NO_ARTIFACTS;
  /** Of the size, and of all lists and objects: many small ones take far more than their text. */
  weight = 0;
  #size = 0;
  #deepest = 0;
  readonly #options: CopyOptions;

  constructor(options: CopyOptions) {
    this.#options = options;
  }

  of(value: unknown, depth: number): Json {
    switch (typeof value) {
      case 'string':
        this.#count(value.length + 2);
        return value;
      case 'number':
        if (!Number.isFinite(value)) throw new NotJson(`holds ${value}, which JSON has no number for`);
        this.#count(8);
        return value;
      case 'boolean':
        this.#count(5);
        return value;
      case 'undefined':
        this.#count(4);
        return null;
      case 'object':
        return value === null ? this.of(undefined, depth) : this.#ofObject(value, depth);
      default:
        throw new NotJson(`holds a ${typeof value}, which JSON cannot hold`);
    }
  }

  #ofObject(value: object, depth: number): Json {
    const measured = Object.isFrozen(value) ? known.get(value) : undefined;
    this.#reach(depth + (measured?.height ?? 0));
    if (measured !== undefined) {
      this.#count(measured.size);
      this.weight += measured.weight - measured.size;
      return value as Json;
    }
    const before = this.#size;
    const weightBefore = this.weight;
    this.weight += OBJECT_BYTES;
    const deepest = this.#deepest;
    this.#deepest = depth;
    const copy = Array.isArray(value) ? this.#ofList(value, depth) : this.#ofKeyed(value, depth);
    const size = this.#size - before;
    if (size >= REMEMBERED_FROM_BYTES && typeof copy === 'object' && copy !== null) {
      known.set(copy, { size, height: this.#deepest - depth, weight: this.weight - weightBefore });
    }
    if (deepest > this.#deepest) this.#deepest = deepest;
    return copy;
  }

  #reach(depth: number): void {
    if (depth > DEEPEST) throw new NotJson(`has a cycle, or more than ${DEEPEST} levels`);
    if (depth > this.#deepest) this.#deepest = depth;
  }

  #ofList(list: readonly unknown[], depth: number): Json {
    const copy = new Array<Json>(list.length);
    this.#count(2 + list.length);
    for (let i = 0; i < list.length; i++) copy[i] = this.of(list[i], depth + 1);
    return Object.freeze(copy) as Json[];
  }

  #ofKeyed(value: object, depth: number): Json {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) {
      const stand = this.#standIn(value, depth);
      if (stand !== undefined) return stand;
    }
    const copy: Record<string, Json> = {};
    this.#count(2);
    for (const key of Object.keys(value)) {
      const member = (value as Record<string, unknown>)[key];
      if (member === undefined) continue;
      this.#count(key.length + 4);
      setOwn(copy, key, this.of(member, depth + 1));
    }
    return Object.freeze(copy);
  }

  /** What takes the place of an object of a class; undefined when its own properties speak for it. */
  #standIn(value: object, depth: number): Json | undefined {
    if (ArrayBuffer.isView(value)) {
      return this.#artifact(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    }
    if (isAnyArrayBuffer(value)) return this.#artifact(new Uint8Array(value));
    if ('toJSON' in value && typeof value.toJSON === 'function') {
      return this.of((value.toJSON as () => unknown)(), depth + 1);
    }
    if (value instanceof Error) throw new NotJson('holds an Error: throw it instead of returning it');
    const kind = Object.prototype.toString.call(value).slice('[object '.length, -1);
    if (kind !== 'Object' || Object.keys(value).length === 0) {
      throw new NotJson(`holds a ${kind === 'Object' ? classOf(value) : kind}, which JSON cannot hold`);
    }
    return undefined;
  }

  #artifact(bytes: Uint8Array): Json {
    const path = this.#options.artifactPath();
    if (this.artifacts === NO_ARTIFACTS) this.artifacts = [];
    this.artifacts.push({ path, bytes });
    return this.of({ path, media_type: 'application/octet-stream', size: bytes.byteLength }, 0);
  }

  #count(bytes: number): void {
    this.#size += bytes;
    this.weight += bytes;
    if (this.#size > this.#options.limitBytes) {
      const limit = (this.#options.limitBytes / 2 ** 20).toLocaleString('en', { maximumFractionDigits: 1 });
      throw new NotJson(`is larger than the limit of ${limit} MiB: return less, or a file`);
    }
  }
}

function classOf(value: object): string {
  return value.constructor.name || 'class instance';
}
