import { isAnyArrayBuffer, isDate } from 'node:util/types';
import { errorMessage } from '../../common/errors.js';
import {
  hasSymbolKey,
  isPlain,
  type Json,
  KeyMeter,
  MEMBER_BYTES,
  measureLetters,
  OBJECT_BYTES,
  setOwn,
  SHORT_VALUE,
  STRING_BYTES,
} from '../../common/json/json.js';
import { ellipsize, formatMebibytes } from '../../common/text.js';
import { runToEnd, type Steps } from '../../common/scheduling/steps.js';
import type { Masker } from '../../definition/secrets/masker.js';
import { findMeasuredCopy, keepMeasuredCopy, MIN_KEPT_BYTES } from './measured-copies.js';

/**
 * The output of a tool as plain, frozen JSON (D24), so that no tool can change what another one reads. A value that JSON
 * cannot hold fails the task with a message that names it; nothing is cut or dropped silently.
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
  /** Replaces the secrets of the run, in texts and keys (D61). */
  readonly masker?: Masker | undefined;
}

/** Copies what a tool returned; `undefined` becomes null. */
export function toJsonOutput(returned: unknown, options: CopyOptions): JsonOutput {
  return runToEnd(toJsonOutputInSteps(returned, options));
}

/** Copies like `toJsonOutput`, in steps: what is short, as most outputs are, in a single one. */
export function* toJsonOutputInSteps(returned: unknown, options: CopyOptions): Steps<JsonOutput> {
  const output = beginJsonOutput(returned, options);
  if ('ok' in output) return output;
  yield;
  return yield* output;
}

/** Copies what is short at once, without a generator; of what is long it does one step, and returns the others. */
export function beginJsonOutput(returned: unknown, options: CopyOptions): JsonOutput | Steps<JsonOutput> {
  const copier = spareCopier ?? new JsonCopier();
  spareCopier = undefined;
  copier.options = options;
  try {
    const value = copier.begin(returned);
    if (!copier.isDone) return finishJsonOutput(copier, value);
    const output = copier.toOutput(value);
    if (copier.reset()) spareCopier = copier;
    return output;
  } catch (error) {
    return copier.toFailure(error);
  }
}

/** For the next short output, of which a fan-out has thousands. A copier at work is not spare: outputs may call code that copies, too. */
let spareCopier: JsonCopier | undefined;

function* finishJsonOutput(copier: JsonCopier, value: Json): Steps<JsonOutput> {
  try {
    yield* copier.finish();
    return copier.toOutput(value);
  } catch (error) {
    return copier.toFailure(error);
  }
}

/** A copy and its approximate memory, in bytes. */
interface FrozenJson {
  readonly json: Json;
  readonly sizeBytes: number;
}

/** Copies a value into frozen JSON, and measures it. @throws Error whose message ends a sentence: `holds a function, which …` */
export function copyToJson(value: unknown, masker?: Masker): FrozenJson {
  return runToEnd(copyToJsonInSteps(value, masker));
}

/** Copies like `copyToJson`, in steps; copying the result again takes no time. */
export function* copyToJsonInSteps(value: unknown, masker?: Masker): Steps<FrozenJson> {
  const copier = new JsonCopier();
  copier.options = { limitBytes: Number.POSITIVE_INFINITY, artifactPath: () => '', masker };
  let json: Json;
  try {
    json = copier.begin(value);
    if (!copier.isDone) yield;
    yield* copier.finish();
  } catch (error) {
    throw new Error(describeCopyError(error, masker), { cause: error });
  }
  if (copier.artifacts.length > 0) throw new Error('holds bytes, which JSON cannot hold');
  return { json, sizeBytes: copier.sizeBytes };
}

function describeCopyError(error: unknown, masker: Masker | undefined): string {
  return error instanceof NotJsonError
    ? error.message
    : `could not be read: ${errorMessage(error, masker?.mask)}`;
}

/** Names what JSON cannot hold; the message is the end of a sentence. */
class NotJsonError extends Error {
  /** True when the error is about the value as a whole, such as its size, and about no part of it. */
  readonly isOfWhole: boolean;

  constructor(message: string, isOfWhole = false) {
    super(message);
    this.isOfWhole = isOfWhole;
  }
}

const STEP_VALUES = 1000;
/** Texts are masked in steps of about so many characters: some milliseconds. */
const MASKED_PER_STEP = 2 ** 20;
const MAX_DEPTH = 500;
const MAX_PLACE_LENGTH = 200;
const NO_ARTIFACTS: Artifact[] = [];
const NO_OPTIONS: CopyOptions = { limitBytes: 0, artifactPath: () => '' };

/** Memory of a number that is no small whole number, besides its text. */
const FRACTION_BYTES = 16;

/** A list or an object that is being copied. */
interface OpenCopy {
  readonly value: object;
  /** Undefined for a list. */
  readonly keys: readonly string[] | undefined;
  /** Filled member by member. */
  readonly copy: object;
  readonly depth: number;
  /** The list or object that contains this one. */
  readonly outer: OpenCopy | undefined;
  /** Number of members that were copied. */
  position: number;
  /** The measures of all that was copied before this list or object. */
  readonly jsonBytes: number;
  readonly sizeBytes: number;
  readonly maxDepth: number;
}

/** Copies one value into frozen JSON and measures it. Open lists and objects wait on a stack, so that it can pause anywhere. */
class JsonCopier {
  artifacts: Artifact[] = NO_ARTIFACTS;
  /** Approximate memory, in bytes. */
  sizeBytes = 0;
  isDone = false;
  #jsonBytes = 0;
  #maxDepth = 0;
  /** The innermost list or object that is being copied. */
  #open: OpenCopy | undefined;
  /** Characters that may still be masked in this step. */
  #maskable = MASKED_PER_STEP;
  /** Members whose keys were numbered, because they became equal. */
  #equalKeys = 0;
  readonly #keyMeter = new KeyMeter();
  options = NO_OPTIONS;

  /** Prepares for another value. Returns false after one that was not short or had files. */
  reset(): boolean {
    if (this.artifacts !== NO_ARTIFACTS || !this.#keyMeter.reset()) return false;
    this.options = NO_OPTIONS;
    this.isDone = false;
    this.sizeBytes = this.#jsonBytes = this.#maxDepth = this.#equalKeys = 0;
    this.#maskable = MASKED_PER_STEP;
    return true;
  }

  /** Returns the copy. It lacks members of a long value until it `isDone`. */
  begin(value: unknown): Json {
    const copy = this.#copyValue(value, 0);
    this.isDone = !this.#copyMembers(SHORT_VALUE);
    return copy;
  }

  *finish(): Steps<void> {
    while (!this.isDone) {
      this.#maskable = MASKED_PER_STEP;
      this.isDone = !this.#copyMembers(STEP_VALUES);
      if (!this.isDone) yield;
    }
  }

  toOutput(value: Json): JsonOutput {
    return { ok: true, value, artifacts: this.artifacts, sizeBytes: this.sizeBytes };
  }

  toFailure(error: unknown): JsonOutput {
    const reason = describeCopyError(error, this.options.masker) + this.#describePlace(error);
    return { ok: false, error: `the output ${reason}` };
  }

  /** Says where copying failed: ` (at rows[2].date)`; nothing for the whole value, and for its size and its depth. */
  #describePlace(error: unknown): string {
    let path = '';
    if (error instanceof NotJsonError && error.isOfWhole) return path;
    for (let open = this.#open; open !== undefined; open = open.outer) {
      // The position is that of the next member.
      const position = open.position - 1;
      path = `${open.keys === undefined ? `[${position}]` : `.${open.keys[position]}`}${path}`;
    }
    if (path === '') return path;
    const masked = this.#mask(path.replace(/^\./, ''));
    return ` (at ${ellipsize(masked, MAX_PLACE_LENGTH)})`;
  }

  /** Copies members of open lists and objects. Returns false when there are no others. */
  #copyMembers(limit: number): boolean {
    let left = limit;
    for (let open = this.#open; open !== undefined; open = this.#open) {
      const length = open.keys === undefined ? (open.copy as Json[]).length : open.keys.length;
      // A member that is a list or an object itself comes before the next one.
      while (open.position < length && this.#open === open) {
        if (left-- === 0 || this.#maskable < 0) return true;
        this.#copyMember(open, open.position++);
      }
      if (this.#open === open) this.#close(open);
    }
    return false;
  }

  #copyMember({ value, keys, copy, depth }: OpenCopy, position: number): void {
    if (keys === undefined) {
      (copy as Json[])[position] = this.#copyValue((value as readonly unknown[])[position], depth + 1);
      return;
    }
    const key = keys[position] as string;
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) return;
    this.#count(key.length + 4);
    this.sizeBytes += MEMBER_BYTES + this.#keyMeter.measure(key);
    setOwn(copy, this.#copyKey(key, copy), this.#copyValue(member, depth + 1));
  }

  /** Two keys that become equal stay two. */
  #copyKey(key: string, copy: object): string {
    const masked = this.#mask(key);
    return masked !== key && Object.hasOwn(copy, masked) ? `${masked} (${++this.#equalKeys + 1})` : masked;
  }

  #mask(text: string): string {
    const { masker } = this.options;
    if (masker === undefined) return text;
    this.#maskable -= text.length;
    return masker.mask(text);
  }

  /** Returns the copy of a value. The copy of a list or an object has no members yet. */
  #copyValue(value: unknown, depth: number): Json {
    switch (typeof value) {
      case 'string':
        this.#count(value.length + 2);
        this.sizeBytes += STRING_BYTES + measureLetters(value) - value.length;
        return this.#mask(value);
      case 'number':
        if (!Number.isFinite(value)) throw new NotJsonError(`holds ${value}, which JSON has no number for`);
        this.#count(8);
        if ((value | 0) !== value) this.sizeBytes += FRACTION_BYTES;
        return this.options.masker?.maskNumber(value) ?? value;
      case 'boolean':
        this.#count(5);
        return value;
      case 'undefined':
        this.#count(4);
        return null;
      case 'object':
        return value === null ? this.#copyValue(undefined, depth) : this.#copyObject(value, depth);
      default:
        throw new NotJsonError(`holds a ${typeof value}, which JSON cannot hold`);
    }
  }

  #copyObject(value: object, depth: number): Json {
    const known = this.#findCopy(value, depth);
    if (known !== undefined) return known;
    if (!isPlain(value)) {
      const replacement = this.#copyInstance(value, depth);
      if (replacement !== undefined) return replacement;
    }
    return this.#openCopy(value, depth);
  }

  /** Returns the copy of a value that was copied before, or is such a copy, and counts it. */
  #findCopy(value: object, depth: number): Json | undefined {
    const measured = findMeasuredCopy(value, this.options.masker);
    this.#enterDepth(depth + (measured?.height ?? 0));
    if (measured === undefined) return undefined;
    this.#count(measured.jsonBytes);
    this.sizeBytes += measured.sizeBytes - measured.jsonBytes;
    return measured.copy;
  }

  #enterDepth(depth: number): void {
    if (depth > MAX_DEPTH) throw new NotJsonError(`has a cycle, or more than ${MAX_DEPTH} levels`, true);
    if (depth > this.#maxDepth) this.#maxDepth = depth;
  }

  /** Begins a copy. Properties that a list has besides its elements, as a match of a RegExp has, are no part of it. */
  #openCopy(value: object, depth: number): Json {
    const isList = Array.isArray(value);
    if (!isList && hasSymbolKey(value))
      throw new NotJsonError('has a symbol as a key, which JSON cannot hold');
    const jsonBytes = this.#jsonBytes;
    const { sizeBytes } = this;
    this.#count(isList ? 2 + value.length : 2);
    this.sizeBytes += OBJECT_BYTES;
    const keys = isList ? undefined : Object.keys(value);
    const copy = isList ? new Array<Json>(value.length) : {};
    const [outer, maxDepth] = [this.#open, this.#maxDepth];
    this.#keyMeter.beginObject();
    this.#open = { value, keys, copy, depth, outer, position: 0, jsonBytes, sizeBytes, maxDepth };
    this.#maxDepth = depth;
    return copy;
  }

  /** Freezes a copy that has all its members, and keeps the measure of a large one. */
  #close(open: OpenCopy): void {
    const { value, copy } = open;
    this.#open = open.outer;
    Object.freeze(copy);
    const jsonBytes = this.#jsonBytes - open.jsonBytes;
    if (jsonBytes >= MIN_KEPT_BYTES) {
      const height = this.#maxDepth - open.depth;
      const sizeBytes = this.sizeBytes - open.sizeBytes;
      const { masker } = this.options;
      keepMeasuredCopy(value, { copy: copy as object & Json, jsonBytes, height, sizeBytes, masker });
    }
    if (open.maxDepth > this.#maxDepth) this.#maxDepth = open.maxDepth;
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
      return this.#copyValue((value.toJSON as () => unknown)(), depth + 1);
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
    const path = this.options.artifactPath();
    if (this.artifacts === NO_ARTIFACTS) this.artifacts = [];
    this.artifacts.push({ path, bytes });
    return this.#copyValue({ path, media_type: 'application/octet-stream', size: bytes.byteLength }, 0);
  }

  #count(bytes: number): void {
    this.#jsonBytes += bytes;
    this.sizeBytes += bytes;
    if (this.#jsonBytes > this.options.limitBytes) {
      const limit = formatMebibytes(this.options.limitBytes);
      throw new NotJsonError(`is larger than the limit of ${limit}: return less, or a file`, true);
    }
  }
}
