import { type Json, type JsonObject, setOwn } from '../../common/json.js';

/**
 * The values given for a run, and what has become of them since: a plain write ends one, an append goes to its list
 * (D23). Many runs may be given the same object, which is neither changed nor copied.
 */
export class GivenValues {
  readonly #given: JsonObject;
  /** Those that were written to; undefined for one that is given no longer. */
  readonly #changed = new Map<string, Json | undefined>();

  constructor(given: JsonObject) {
    this.#given = given;
  }

  get(key: string): Json | undefined {
    if (this.#changed.has(key)) return this.#changed.get(key);
    return Object.hasOwn(this.#given, key) ? this.#given[key] : undefined;
  }

  /** Of all that were given at first. */
  keys(): string[] {
    return Object.keys(this.#given);
  }

  follow(writes: readonly Write[]): void {
    const lists = new Map<string, Json[]>();
    for (const { key, value, append } of writes) {
      const given = this.get(key);
      if (given === undefined) continue;
      if (append) {
        const list = lists.get(key) ?? listOf(given);
        list.push(value);
        lists.set(key, list);
      } else {
        this.#changed.set(key, undefined);
        lists.delete(key);
      }
    }
    for (const [key, list] of lists) this.#changed.set(key, Object.freeze(list) as Json[]);
  }

  /** As they are now. The same object when nothing was written to any of them. */
  present(): JsonObject {
    if (this.#changed.size === 0) return this.#given;
    const present: JsonObject = {};
    for (const key of this.keys()) {
      const value = this.get(key);
      if (value !== undefined) setOwn(present, key, value);
    }
    return present;
  }
}

function listOf(value: Json): Json[] {
  return Array.isArray(value) ? [...value] : [value];
}

/** A write that a tool asked for; it is applied when its task succeeds. */
export interface Write {
  readonly key: string;
  readonly value: Json;
  readonly append: boolean;
  /** What the value takes in memory, in bytes, roughly. */
  readonly weight: number;
}
