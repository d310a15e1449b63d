import type { Json } from '../../common/json/json.js';
import type { Blackboard } from './blackboard.js';

/** The default blackboard, in the memory of the process: its values end with the process (Blackboard, rule 2). */
export class MemoryBlackboard implements Blackboard {
  readonly #tenants = new Map<string, Map<string, StoredValue>>();

  async getAll(tenantId: string): Promise<Record<string, Json>> {
    return toRecord(this.#tenants.get(tenantId) ?? []);
  }

  async readMany(tenantId: string, keys: readonly string[]): Promise<Record<string, Json>> {
    const values = this.#tenants.get(tenantId);
    const found: [string, StoredValue][] = [];
    for (const key of keys) {
      const stored = values?.get(key);
      if (stored !== undefined) found.push([key, stored]);
    }
    return toRecord(found);
  }

  async write(tenantId: string, key: string, value: Json, append = false): Promise<void> {
    let values = this.#tenants.get(tenantId);
    if (values === undefined) this.#tenants.set(tenantId, (values = new Map()));
    const existing = values.get(key);
    if (!append) values.set(key, new StoredValue(value));
    else if (existing === undefined) values.set(key, new StoredValue([value]));
    else existing.append(value);
  }
}

/** The blackboard of an executor that was given none (D57): runs need not read the whole of it, nor wait when they read nothing. */
export class OwnBlackboard extends MemoryBlackboard {}

/** A value and the list that appends turn it into; an append takes constant time. */
class StoredValue {
  #value: Json;
  #list: Json[] | undefined;

  constructor(value: Json) {
    this.#value = value;
  }

  append(value: Json): void {
    this.#list ??= Array.isArray(this.#value) ? [...this.#value] : [this.#value];
    this.#list.push(value);
  }

  /** Returns the value, which later appends do not change. */
  read(): Json {
    if (this.#list !== undefined) {
      this.#value = Object.freeze(this.#list) as Json[];
      this.#list = undefined;
    }
    return this.#value;
  }
}

function toRecord(values: Iterable<[string, StoredValue]>): Record<string, Json> {
  const record = Object.create(null) as Record<string, Json>;
  for (const [key, stored] of values) record[key] = stored.read();
  return record;
}
