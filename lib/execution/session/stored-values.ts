import { type Json, type JsonObject, setOwn } from '../../common/json/json.js';
import type { Write } from './session-overrides.js';

/** Memory of a key of the session, and of an element of an appended list, without its value. */
const KEY_BYTES = 64;
const ELEMENT_BYTES = 8;

/** Session values to which writes are applied again, as to a blackboard (D23), when somebody looks at them. */
export class StoredValues {
  readonly values: JsonObject = {};
  readonly #keys: ReadonlySet<string> | undefined;
  /** The lists that were copied, and may be appended to. */
  readonly #lists = new Map<string, Json[]>();

  /** @param keys that somebody reads, of which alone there are values; undefined for all */
  constructor(session: JsonObject, keys: ReadonlySet<string> | undefined) {
    this.#keys = keys;
    for (const key of keys ?? Object.keys(session)) {
      if (Object.hasOwn(session, key)) setOwn(this.values, key, session[key]);
    }
  }

  /** Memory of the copies, without the values in them. */
  get bytes(): number {
    let bytes = KEY_BYTES * (this.#keys?.size ?? Object.keys(this.values).length);
    for (const list of this.#lists.values()) bytes += ELEMENT_BYTES * list.length;
    return bytes;
  }

  apply({ key, value, append }: Write): void {
    if (this.#keys !== undefined && !this.#keys.has(key)) return;
    if (append) return this.#append(key, value);
    this.#lists.delete(key);
    setOwn(this.values, key, value);
  }

  #append(key: string, value: Json): void {
    let list = this.#lists.get(key);
    if (list === undefined) {
      list = toAppendable(Object.hasOwn(this.values, key) ? this.values[key] : undefined);
      this.#lists.set(key, list);
      setOwn(this.values, key, list);
    }
    list.push(value);
  }
}

function toAppendable(present: Json | undefined): Json[] {
  if (present === undefined) return [];
  return Array.isArray(present) ? [...present] : [present];
}
