import type { Pace } from '../../machines/vocabulary.js';
import type { Blackboard } from '../blackboard/blackboard.js';
import { type Json, type JsonObject, setOwn } from '../json.js';
import type { Contract } from '../pipelines/contract.js';
import { eachFrozen } from './output.js';

/** A write that a tool asked for; it is applied when its task succeeds. */
export interface Write {
  readonly key: string;
  readonly value: Json;
  readonly append: boolean;
}

const WRITES_BETWEEN_LOOKS_AT_THE_TIME = 256;

/**
 * What a pipeline reads as `{{session.KEY}}`: the tenant's blackboard, or those of its keys that the pipeline
 * `reads`, under the values given for the run (Blackboard, rule 5; D3). What the run's own tasks store is readable
 * in later waves, whatever `reads` says (rule 6). Given values stand on no blackboard, and no write puts them there.
 */
export class Session {
  /** The present view. It is replaced, key by key, as tasks store. */
  values = Object.create(null) as Record<string, Json>;
  readonly #blackboard: Blackboard;
  readonly #isOurs: boolean;
  readonly #tenantId: string;
  /** Values given for the run, with what was appended to them since. */
  readonly #given: Map<string, Json>;
  /** Tasks are applied one after another, so that what is read back is never older than what is there. */
  #applied: Promise<void> = Promise.resolve();

  /** @param isOurs nobody brought the blackboard along: it was made for this run, or for the plan that it is part of */
  constructor(blackboard: Blackboard, isOurs: boolean, tenantId: string, given: JsonObject) {
    this.#blackboard = blackboard;
    this.#isOurs = isOurs;
    this.#tenantId = tenantId;
    this.#given = new Map(Object.entries(given));
    for (const [key, value] of this.#given) setOwn(this.values, key, value);
  }

  /** What is left of the values given for the run, with what was appended to them. */
  get given(): ReadonlyMap<string, Json> {
    return this.#given;
  }

  /**
   * Reads the blackboard: to be done before the first wave. Rejects when the blackboard does.
   *
   * @param reads the only keys that are to be seen; undefined is all of them
   */
  async open(
    reads: readonly string[] | undefined,
    contract: Pick<Contract, 'reads' | 'stores'>,
  ): Promise<void> {
    const stored =
      reads === undefined
        ? await this.#readAllThatMatters(contract)
        : await this.#blackboard.read_many(this.#tenantId, reads);
    this.#show(stored);
  }

  /**
   * All of it, or as much of our own as templates read: the pipelines of a plan would copy it again and again. When
   * something is missing it is all of it, so that the message can name the keys that there are (D13).
   */
  async #readAllThatMatters({
    reads,
    stores,
  }: Pick<Contract, 'reads' | 'stores'>): Promise<Record<string, Json>> {
    if (this.#isOurs) {
      const stored = await this.#blackboard.read_many(this.#tenantId, [...reads.keys()]);
      const isMissing = (key: string): boolean =>
        !Object.hasOwn(stored, key) && !this.#given.has(key) && !stores.has(key);
      if (![...reads].some(([key, { hasFallback }]) => !hasFallback && isMissing(key))) return stored;
    }
    return this.#blackboard.get_all(this.#tenantId);
  }

  /** Nobody reads it any more: what others put on the blackboard is not held for a run that is over. */
  close(): void {
    this.values = {};
  }

  /**
   * Applies the writes of a task, in their order, after those of earlier calls. Rejects when the blackboard does.
   *
   * @param again they are of an earlier run: on a blackboard that somebody brought along they stand already, and to
   * append them once more would double them (D35)
   */
  apply(writes: readonly Write[], pace: Pace, again: boolean): Promise<void> {
    const applying = this.#applied.then(async () => {
      if (this.#isOurs || !again) await this.#write(writes, pace);
      await this.#see(writes);
    });
    this.#applied = applying.catch(() => undefined);
    return applying;
  }

  /** What a tool sees: the whole blackboard of its tenant, under the values given for the run. */
  async readAll(): Promise<Record<string, Json>> {
    return this.#withGiven(await this.#blackboard.get_all(this.#tenantId), this.#given.keys());
  }

  async readMany(keys: readonly string[]): Promise<Record<string, Json>> {
    return this.#withGiven(await this.#blackboard.read_many(this.#tenantId, keys), keys);
  }

  async #write(writes: readonly Write[], pace: Pace): Promise<void> {
    for (const [position, { key, value, append }] of writes.entries()) {
      await this.#blackboard.write(this.#tenantId, key, value, append);
      if (position % WRITES_BETWEEN_LOOKS_AT_THE_TIME === 0 && pace.overdue()) await laterTurn(pace);
    }
  }

  /** What was written is to be read from now on. */
  async #see(writes: readonly Write[]): Promise<void> {
    this.#followGiven(writes);
    const keys = [...new Set(writes.map(({ key }) => key))];
    this.#show(await this.#blackboard.read_many(this.#tenantId, keys));
  }

  /** A given value takes the appends too; a plain write ends it (D23). */
  #followGiven(writes: readonly Write[]): void {
    const lists = new Map<string, Json[]>();
    for (const { key, value, append } of writes) {
      const given = this.#given.get(key);
      if (given === undefined) continue;
      if (append) {
        const list = lists.get(key) ?? listOf(given);
        list.push(value);
        lists.set(key, list);
      } else {
        this.#given.delete(key);
        lists.delete(key);
      }
    }
    for (const [key, list] of lists) this.#given.set(key, Object.freeze(list) as Json[]);
  }

  #show(stored: Record<string, Json>): void {
    eachFrozen(stored, (key, json) => setOwn(this.values, key, this.#given.get(key) ?? json));
  }

  #withGiven(stored: Record<string, Json>, keys: Iterable<string>): Record<string, Json> {
    const seen = Object.create(null) as Record<string, Json>;
    eachFrozen(stored, (key, json) => setOwn(seen, key, json));
    for (const key of keys) {
      const given = this.#given.get(key);
      if (given !== undefined) seen[key] = given;
    }
    return seen;
  }
}

function listOf(value: Json): Json[] {
  return Array.isArray(value) ? [...value] : [value];
}

function laterTurn(pace: Pace): Promise<void> {
  return new Promise((resolve) => {
    pace.later(resolve);
  });
}
