import type { Pace } from '../../../machines/types.js';
import type { Blackboard } from '../../blackboard/blackboard.js';
import { messageOf } from '../../common/errors.js';
import { isObject, type Json, type JsonObject, kindOf, setOwn } from '../../common/json.js';
import type { Contract } from '../../pipelines/contract.js';
import { eachFrozen } from '../json-output.js';
import { GivenValues, type Write } from './given-values.js';

/** What the session is asked for by templates. */
type SessionContract = Pick<Contract, 'reads' | 'stores'>;

const WRITES_BETWEEN_LOOKS_AT_THE_TIME = 256;

/**
 * What a pipeline reads as `{{session.KEY}}`: the tenant's blackboard, or those of its keys that the pipeline
 * `reads`, under the values given for the run (Blackboard, rule 5; D3). What the run's own tasks store is readable
 * in later waves, whatever `reads` says (rule 6). Given values stand on no blackboard, and no write puts them there.
 */
export class Session {
  /** The present view: what templates read. It is replaced, key by key, as tasks store. */
  values = Object.create(null) as Record<string, Json>;
  readonly #blackboard: Blackboard;
  readonly #isOurs: boolean;
  readonly #tenantId: string;
  readonly #given: GivenValues;
  readonly #contract: SessionContract;
  /** Tasks are applied one after another, so that what is read back is never older than what is there. */
  #applied: Promise<void> = Promise.resolve();

  /** @param isOurs nobody brought the blackboard along: it was made for this run, or for the plan that it is part of */
  constructor(
    blackboard: Blackboard,
    isOurs: boolean,
    tenantId: string,
    given: JsonObject,
    contract: SessionContract,
  ) {
    this.#blackboard = blackboard;
    this.#isOurs = isOurs;
    this.#tenantId = tenantId;
    this.#given = new GivenValues(given);
    this.#contract = contract;
  }

  /** Shows the given values, where there is no blackboard to be read: to be done before the first wave. */
  show(): void {
    this.#showGiven(this.#isMissing({}));
  }

  /**
   * Reads the blackboard: to be done before the first wave. Rejects when the blackboard does.
   *
   * @param reads the only keys that are to be seen; undefined is all of them
   */
  async open(reads: readonly string[] | undefined): Promise<void> {
    const stored =
      reads === undefined
        ? await this.#readAllThatMatters()
        : keyedIn(await this.#blackboard.read_many(this.#tenantId, reads));
    this.#showGiven(this.#isMissing(stored));
    this.#showStored(stored);
  }

  /** All of it, or as much of our own as templates read: the pipelines of a plan would copy it again and again. */
  async #readAllThatMatters(): Promise<Record<string, Json>> {
    if (this.#isOurs) {
      const keys = [...this.#contract.reads.keys()];
      const stored = keyedIn(await this.#blackboard.read_many(this.#tenantId, keys));
      if (!this.#isMissing(stored)) return stored;
    }
    return keyedIn(await this.#blackboard.get_all(this.#tenantId));
  }

  /** A template will fail for want of a key; its message is to name all the keys that there are (D13). */
  #isMissing(stored: Record<string, Json>): boolean {
    const { reads, stores } = this.#contract;
    const isThere = (key: string): boolean =>
      Object.hasOwn(stored, key) || this.#given.get(key) !== undefined || stores.has(key);
    return [...reads].some(([key, { hasFallback }]) => !hasFallback && !isThere(key));
  }

  #showGiven(all: boolean): void {
    for (const key of all ? this.#given.keys() : this.#contract.reads.keys()) {
      const value = this.#given.get(key);
      if (value !== undefined) setOwn(this.values, key, value);
    }
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
    return this.#withGiven(keyedIn(await this.#blackboard.get_all(this.#tenantId)), this.#given.keys());
  }

  async readMany(keys: readonly string[]): Promise<Record<string, Json>> {
    return this.#withGiven(keyedIn(await this.#blackboard.read_many(this.#tenantId, keys)), keys);
  }

  async #write(writes: readonly Write[], pace: Pace): Promise<void> {
    for (const [position, { key, value, append }] of writes.entries()) {
      await this.#blackboard.write(this.#tenantId, key, value, append);
      if (position % WRITES_BETWEEN_LOOKS_AT_THE_TIME === 0 && pace.overdue()) await laterTurn(pace);
    }
  }

  /** What was written is to be read from now on. */
  async #see(writes: readonly Write[]): Promise<void> {
    this.#given.follow(writes);
    const keys = [...new Set(writes.map(({ key }) => key))];
    try {
      this.#showStored(keyedIn(await this.#blackboard.read_many(this.#tenantId, keys)));
    } catch (cause) {
      throw new Error(`they cannot be read back: ${messageOf(cause)}`, { cause });
    }
  }

  #showStored(stored: Record<string, Json>): void {
    eachFrozen(stored, (key, json) => setOwn(this.values, key, this.#given.get(key) ?? json));
  }

  #withGiven(stored: Record<string, Json>, keys: Iterable<string>): Record<string, Json> {
    const seen = Object.create(null) as Record<string, Json>;
    eachFrozen(stored, (key, json) => setOwn(seen, key, json));
    for (const key of keys) {
      const given = this.#given.get(key);
      if (given !== undefined) setOwn(seen, key, given);
    }
    return seen;
  }
}

function laterTurn(pace: Pace): Promise<void> {
  return new Promise((resolve) => {
    pace.later(resolve);
  });
}

/**
 * What a blackboard gave, which somebody else may have made.
 *
 * @throws Error, as the end of a sentence, when it is no object of keys and values
 */
export function keyedIn(stored: unknown): Record<string, Json> {
  if (isObject(stored)) return stored as Record<string, Json>;
  throw new Error(`it gave ${kindOf(stored)}, and no object of keys and values`);
}
