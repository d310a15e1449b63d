import { messageOf } from '../common/errors.js';
import type { Json } from '../common/json.js';
import { type Artifact, type CopyOptions, JsonCopy, NotJson } from './json-copy.js';

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
export function frozenJson(value: unknown): Json {
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
