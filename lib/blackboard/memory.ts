import type { Json } from '../common/json.js';
import type { Blackboard } from './blackboard.js';

/** The default blackboard: in the memory of the process, gone when it exits (Blackboard, rule 2). */
export class MemoryBlackboard implements Blackboard {
  readonly #tenants = new Map<string, Map<string, Entry>>();

  async get_all(tenantId: string): Promise<Record<string, Json>> {
    return recordOf(this.#tenants.get(tenantId) ?? []);
  }

  async read_many(tenantId: string, keys: readonly string[]): Promise<Record<string, Json>> {
    const entries = this.#tenants.get(tenantId);
    const found: [string, Entry][] = [];
    for (const key of keys) {
      const entry = entries?.get(key);
      if (entry !== undefined) found.push([key, entry]);
    }
    return recordOf(found);
  }

  async write(tenantId: string, key: string, value: Json, append = false): Promise<void> {
    const entries = this.#entriesOf(tenantId);
    const existing = entries.get(key);
    if (!append) entries.set(key, new Entry(value));
    else if (existing === undefined) entries.set(key, new Entry([value]));
    else existing.append(value);
  }

  #entriesOf(tenantId: string): Map<string, Entry> {
    const existing = this.#tenants.get(tenantId);
    if (existing !== undefined) return existing;
    const created = new Map<string, Entry>();
    this.#tenants.set(tenantId, created);
    return created;
  }
}

/** A value, and the list it grows into: an append costs the same however long the list is. */
class Entry {
  #value: Json;
  #grown: Json[] | undefined;

  constructor(value: Json) {
    this.#value = value;
  }

  append(value: Json): void {
    this.#grown ??= Array.isArray(this.#value) ? [...this.#value] : [this.#value];
    this.#grown.push(value);
  }

  /** What a reader gets is never changed by a later append. */
  read(): Json {
    if (this.#grown !== undefined) {
      this.#value = Object.freeze(this.#grown) as Json[];
      this.#grown = undefined;
    }
    return this.#value;
  }
}

function recordOf(entries: Iterable<[string, Entry]>): Record<string, Json> {
  const record = Object.create(null) as Record<string, Json>;
  for (const [key, entry] of entries) record[key] = entry.read();
  return record;
}
