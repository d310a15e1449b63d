import type { Json, JsonObject } from '../../common/json/json.js';

/** A blackboard write of a tool; it is applied when its task succeeds. */
export interface Write {
  readonly key: string;
  readonly value: Json;
  readonly append: boolean;
  /** Approximate memory of the value, in bytes. */
  readonly sizeBytes: number;
}

export const NO_WRITES: readonly Write[] = [];

/** The value that a write gave an override. */
interface Change {
  readonly version: number;
  /** Undefined for an override that was removed. */
  readonly value: Json | undefined;
}

/**
 * The session values submitted with a run. They override the blackboard until a task writes to their key: a plain write
 * removes the override, an append extends its list (D23). Many runs may share the submitted object, which never changes.
 */
export class SessionOverrides {
  readonly #submitted: JsonObject;
  /** The changes by key, the oldest first; only the last one of each version. */
  readonly #changes = new Map<string, Change[]>();
  /** The overrides that these began as, and their version at that time. */
  readonly #origin: SessionOverrides | undefined;
  readonly #originVersion: number;
  /** Grows with every fork. */
  #version = 0;

  constructor(submitted: JsonObject, origin?: SessionOverrides) {
    this.#submitted = submitted;
    this.#origin = origin;
    this.#originVersion = origin === undefined ? 0 : origin.#version;
  }

  /** Returns overrides that begin as these are now, and take no memory for that. */
  fork(): SessionOverrides {
    const forked = new SessionOverrides(this.#submitted, this);
    this.#version++;
    return forked;
  }

  get(key: string): Json | undefined {
    return this.#getAt(key, this.#version);
  }

  #getAt(key: string, version: number): Json | undefined {
    const change = this.#changes.get(key)?.findLast((earlier) => earlier.version <= version);
    if (change !== undefined) return change.value;
    if (this.#origin !== undefined) return this.#origin.#getAt(key, this.#originVersion);
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
        this.#change(key, undefined);
        lists.delete(key);
      }
    }
    for (const [key, list] of lists) this.#change(key, Object.freeze(list) as Json[]);
  }

  #change(key: string, value: Json | undefined): void {
    const changes = this.#changes.get(key) ?? [];
    if (changes.at(-1)?.version === this.#version) changes.pop();
    changes.push({ version: this.#version, value });
    this.#changes.set(key, changes);
  }
}
