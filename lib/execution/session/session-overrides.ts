import { type Json, type JsonObject, setOwn } from '../../common/json.js';

/** A blackboard write of a tool; it is applied when its task succeeds. */
export interface Write {
  readonly key: string;
  readonly value: Json;
  readonly append: boolean;
  /** Approximate memory of the value, in bytes. */
  readonly sizeBytes: number;
}

/**
 * The session values submitted with a run. They override the blackboard until a task writes to their key: a plain write
 * removes the override, an append extends its list (D23). Many runs may share the submitted object, which is neither
 * changed nor copied.
 */
export class SessionOverrides {
  readonly #submitted: JsonObject;
  /** Overrides that were written to; undefined for one that was removed. */
  readonly #changed = new Map<string, Json | undefined>();

  constructor(submitted: JsonObject) {
    this.#submitted = submitted;
  }

  get(key: string): Json | undefined {
    if (this.#changed.has(key)) return this.#changed.get(key);
    return Object.hasOwn(this.#submitted, key) ? this.#submitted[key] : undefined;
  }

  /** Returns the keys of all submitted values, even of removed ones. */
  keys(): string[] {
    return Object.keys(this.#submitted);
  }

  applyWrites(writes: readonly Write[]): void {
    const lists = new Map<string, Json[]>();
    for (const { key, value, append } of writes) {
      const present = this.get(key);
      if (present === undefined) continue;
      if (append) {
        const list = lists.get(key) ?? (Array.isArray(present) ? [...present] : [present]);
        list.push(value);
        lists.set(key, list);
      } else {
        this.#changed.set(key, undefined);
        lists.delete(key);
      }
    }
    for (const [key, list] of lists) this.#changed.set(key, Object.freeze(list) as Json[]);
  }

  /** Returns the present values: the submitted object itself when none was written to. */
  current(): JsonObject {
    if (this.#changed.size === 0) return this.#submitted;
    const current: JsonObject = {};
    for (const key of this.keys()) {
      const value = this.get(key);
      if (value !== undefined) setOwn(current, key, value);
    }
    return current;
  }
}
