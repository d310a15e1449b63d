import { appended } from '../blackboard/append.js';
import type { Blackboard } from '../blackboard/blackboard.js';
import { type Json, type JsonObject, setOwn } from '../json.js';

/** A write that a tool asked for; it is applied when its task succeeds. */
export interface Write {
  readonly key: string;
  readonly value: Json;
  readonly append: boolean;
}

/**
 * What a pipeline reads as `{{session.KEY}}`: the tenant's blackboard, or those of its keys that the pipeline
 * `reads`, under the values given for the run (Blackboard, rule 5; D3). What the run's own tasks store is readable
 * in later waves, whatever `reads` says (rule 6).
 */
export class Session {
  /** The present view. It is replaced, key by key, as tasks store. */
  readonly values = Object.create(null) as Record<string, Json>;
  readonly #blackboard: Blackboard;
  readonly #tenantId: string;
  /** Values given for the run, which are on no blackboard until a task appends to them. */
  readonly #given: Map<string, Json>;

  constructor(blackboard: Blackboard, tenantId: string, given: JsonObject) {
    this.#blackboard = blackboard;
    this.#tenantId = tenantId;
    this.#given = new Map(Object.entries(given));
  }

  /** Reads the blackboard: to be done before the first wave. Rejects when the blackboard does. */
  async open(reads: readonly string[] | undefined): Promise<void> {
    const stored =
      reads === undefined
        ? await this.#blackboard.get_all(this.#tenantId)
        : await this.#blackboard.read_many(this.#tenantId, reads);
    for (const [key, value] of Object.entries(stored)) setOwn(this.values, key, value);
    for (const [key, value] of this.#given) setOwn(this.values, key, value);
  }

  /** Applies the writes of a task, in their order. Rejects when the blackboard does. */
  async apply(writes: readonly Write[]): Promise<void> {
    for (const write of writes) await this.#write(write);
    const keys = [...new Set(writes.map((write) => write.key))];
    const stored = await this.#blackboard.read_many(this.#tenantId, keys);
    for (const [key, value] of Object.entries(stored)) setOwn(this.values, key, value);
  }

  /** What a tool sees: the whole blackboard of its tenant, under the values given for the run. */
  async readAll(): Promise<Record<string, Json>> {
    return this.#withGiven(await this.#blackboard.get_all(this.#tenantId), this.#given.keys());
  }

  async readMany(keys: readonly string[]): Promise<Record<string, Json>> {
    return this.#withGiven(await this.#blackboard.read_many(this.#tenantId, keys), keys);
  }

  #write({ key, value, append }: Write): Promise<void> {
    const given = this.#given.get(key);
    this.#given.delete(key);
    if (append && given !== undefined) {
      return this.#blackboard.write(this.#tenantId, key, appended(given, value), false);
    }
    return this.#blackboard.write(this.#tenantId, key, value, append);
  }

  #withGiven(stored: Record<string, Json>, keys: Iterable<string>): Record<string, Json> {
    for (const key of keys) {
      const given = this.#given.get(key);
      if (given !== undefined) setOwn(stored, key, given);
    }
    return stored;
  }
}
