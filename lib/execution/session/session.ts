import type { EventLoopBudget } from '../../../machines/ports.js';
import type { Blackboard } from './blackboard.js';
import { OwnBlackboard } from './memory-blackboard.js';
import { errorMessage } from '../../common/errors.js';
import {
  describeKind,
  isObject,
  isPlain,
  type Json,
  type JsonObject,
  setOwn,
} from '../../common/json/json.js';
import { runToEnd, runWithPauses, type Steps } from '../../common/scheduling/steps.js';
import type { Contract } from '../../pipelines/contract.js';
import { nextSlice, nextSliceWhenOver } from '../run/event-loop-budget.js';
import { copyToJson, copyToJsonInSteps } from '../invocation/json-output.js';
import type { MemoryBudget } from '../memory-budget.js';
import { AppendedLists } from './appended-lists.js';
import type { SessionOverrides, Write } from './session-overrides.js';

/** The keys that the templates of a pipeline read and store. */
type SessionContract = Pick<Contract, 'reads' | 'stores'>;

/** Memory of one key in an object that refers to values which are in memory already. */
const REFERENCE_BYTES = 64;

const YIELD_CHECK_INTERVAL_WRITES = 256;

/** Makes so many written values readable at once, which takes about 2 ms. */
const KEYS_PER_PART = 500;

/**
 * The values that a pipeline reads as `{{session.KEY}}`: the tenant's blackboard, or those of its keys that the
 * pipeline `reads`, overridden by the values submitted with the run (Blackboard, rule 5; D3). Later waves also read
 * what the run's own tasks store, whatever `reads` says (rule 6). Overrides are never written to the blackboard.
 */
export class Session {
  /** The values that templates read now. Updated key by key as tasks store. */
  values = Object.create(null) as Record<string, Json>;
  readonly #blackboard: Blackboard;
  readonly #ownsBlackboard: boolean;
  readonly #tenantId: string;
  readonly #overrides: SessionOverrides;
  readonly #contract: SessionContract;
  readonly #lists: AppendedLists;
  /** The promise that `readShared` returns. */
  #shared: Promise<JsonObject> | undefined;
  #sharedBytes = 0;
  readonly #memory: MemoryBudget;
  /** Settles when all writes so far are applied and read back. The next write waits for it. */
  #applied: Promise<void> = Promise.resolve();

  /** @param ownsBlackboard true when the blackboard was created for this run, or for the plan that contains it */
  constructor(
    blackboard: Blackboard,
    ownsBlackboard: boolean,
    tenantId: string,
    overrides: SessionOverrides,
    contract: SessionContract,
    memory: MemoryBudget,
  ) {
    this.#blackboard = blackboard;
    this.#ownsBlackboard = ownsBlackboard;
    this.#tenantId = tenantId;
    this.#overrides = overrides;
    this.#contract = contract;
    this.#memory = memory;
    this.#lists = new AppendedLists(memory);
  }

  /** Makes the overrides readable when there is no blackboard to read. Must be called before the first wave. */
  showOverrides(): void {
    this.#showOverrides(this.#isIncomplete({}));
  }

  /** Reads the blackboard, or those keys that the run may see, before the first wave. Rejects when the blackboard does. */
  async readBlackboard(reads: readonly string[] | undefined): Promise<void> {
    const stored = reads === undefined ? await this.#readNeeded() : await this.#readKeys(reads);
    this.#showOverrides(this.#isIncomplete(stored));
    this.#showStored(stored);
  }

  /** Reads the whole blackboard, or the keys that templates use when no caller provided it: runs would copy each other's values. */
  async #readNeeded(): Promise<Record<string, Json>> {
    if (this.#ownsBlackboard || this.#blackboard instanceof OwnBlackboard) {
      const stored = await this.#readKeys([...this.#contract.reads.keys()]);
      if (!this.#isIncomplete(stored)) return stored;
    }
    return this.#readEverything();
  }

  /** Returns true when a template will fail because a key is missing; its message lists all existing keys (D13). */
  #isIncomplete(stored: Record<string, Json>): boolean {
    const { reads, stores } = this.#contract;
    const exists = (key: string): boolean =>
      Object.hasOwn(stored, key) || this.#overrides.get(key) !== undefined || stores.has(key);
    return [...reads].some(([key, { hasFallback }]) => !hasFallback && !exists(key));
  }

  #showOverrides(all: boolean): void {
    for (const key of all ? this.#overrides.keys() : this.#contract.reads.keys()) {
      const value = this.#overrides.get(key);
      if (value !== undefined) setOwn(this.values, key, value);
    }
  }

  /** Call when a wave has settled, whose tasks may have held values that were replaced since. */
  onWaveSettled(): void {
    this.#lists.releaseReplaced();
  }

  /** Drops the values of a settled run, so that its record does not retain values of a shared blackboard. */
  close(): void {
    this.#dropShared();
    this.#lists.releaseReplaced();
    this.values = {};
  }

  /**
   * Applies the writes of a task, after those of earlier calls. Rejects when the blackboard does, or without memory.
   * @param isReused a provided blackboard holds writes of an earlier run already: appending them would duplicate them (D35)
   */
  apply(writes: readonly Write[], budget: EventLoopBudget, isReused: boolean): Promise<void> {
    const applying = this.#applied.then(async () => {
      const reserving = this.#lists.reserve(writes, (key) => this.#overrides.get(key) ?? this.#getShown(key));
      const listBytes = await runWithPauses(reserving, () => nextSliceWhenOver(budget));
      try {
        if (this.#ownsBlackboard || !isReused) await this.#write(writes, budget);
        await this.#readBack(writes, listBytes, budget);
      } finally {
        this.#dropShared();
      }
    });
    this.#applied = applying.catch(() => undefined);
    return applying;
  }

  /** Reads the tenant's whole blackboard with the overrides, as tools see it. */
  async readAll(): Promise<Record<string, Json>> {
    return this.#mergeOverrides(await this.#readEverything(), this.#overrides.keys());
  }

  /** Reads like `readAll`, once for many nested runs until a task writes; each time when others may write too. */
  async readShared(): Promise<JsonObject> {
    if (!this.#ownsBlackboard) return Object.freeze(await this.readAll());
    this.#shared ??= this.#readCounted();
    return this.#shared;
  }

  /** Rejects with a ToolError when the run has no memory left. */
  async #readCounted(): Promise<JsonObject> {
    const all = await this.readAll();
    const bytes = REFERENCE_BYTES * Object.keys(all).length;
    this.#memory.reserve(bytes);
    this.#sharedBytes += bytes;
    return Object.freeze(all);
  }

  /** Drops the shared object, which nested runs may hold until the wave has settled. */
  #dropShared(): void {
    this.#shared = undefined;
    this.#lists.onReplaced(this.#sharedBytes);
    this.#sharedBytes = 0;
  }

  async readMany(keys: readonly string[]): Promise<Record<string, Json>> {
    return this.#mergeOverrides(await this.#readKeys(keys), keys);
  }

  async #readEverything(): Promise<Record<string, Json>> {
    return assertRecord(await this.#blackboard.getAll(this.#tenantId));
  }

  async #readKeys(keys: readonly string[]): Promise<Record<string, Json>> {
    return assertRecord(await this.#blackboard.readMany(this.#tenantId, keys));
  }

  async #write(writes: readonly Write[], budget: EventLoopBudget): Promise<void> {
    for (const [position, { key, value, append }] of writes.entries()) {
      await this.#blackboard.write(this.#tenantId, key, this.#freeze(value), append);
      if (position % YIELD_CHECK_INTERVAL_WRITES === 0 && budget.exhausted()) {
        await nextSlice(budget);
      }
    }
  }

  /** Freezes a value from a fact or the cache, because values on a blackboard of the run's own are read as they are. */
  #freeze(value: Json): Json {
    return this.#ownsBlackboard && !Object.isFrozen(value) ? copyToJson(value).json : value;
  }

  #getShown(key: string): Json | undefined {
    return Object.hasOwn(this.values, key) ? this.values[key] : undefined;
  }

  /** Makes written values readable. @param listBytes memory of the lists that were appended to, by key */
  async #readBack(
    writes: readonly Write[],
    listBytes: ReadonlyMap<string, number>,
    budget: EventLoopBudget,
  ): Promise<void> {
    const shown = new Set<string>();
    for (let start = 0; start < writes.length; start += KEYS_PER_PART) {
      const part = writes.slice(start, start + KEYS_PER_PART);
      this.#overrides.applyWrites(part);
      const keys = new Set(part.map(({ key }) => key).filter((key) => !shown.has(key)));
      for (const key of keys) shown.add(key);
      await this.#readBackKeys([...keys], listBytes, budget);
      if (budget.exhausted()) await nextSlice(budget);
    }
  }

  async #readBackKeys(
    keys: readonly string[],
    listBytes: ReadonlyMap<string, number>,
    budget: EventLoopBudget,
  ): Promise<void> {
    try {
      const reading = this.#entriesInSteps(await this.#readKeys(keys));
      for (const [key, json] of await runWithPauses(reading, () => nextSliceWhenOver(budget))) {
        this.#lists.show(this.values, key, this.#overrides.get(key) ?? json, listBytes.get(key));
      }
    } catch (cause) {
      throw new Error(`they cannot be read back: ${errorMessage(cause)}`, { cause });
    }
  }

  /** Returns stored values as frozen JSON. Those of an own blackboard are frozen already: a copy of 400,000 objects takes 0.2 s. */
  *#entriesInSteps(stored: Record<string, Json>): Steps<readonly FrozenEntry[]> {
    return this.#ownsBlackboard ? Object.entries(stored) : yield* freezeEntriesInSteps(stored);
  }

  #showStored(stored: Record<string, Json>): void {
    for (const [key, json] of runToEnd(this.#entriesInSteps(stored)))
      setOwn(this.values, key, this.#overrides.get(key) ?? json);
  }

  #mergeOverrides(stored: Record<string, Json>, keys: Iterable<string>): Record<string, Json> {
    const merged = Object.create(null) as Record<string, Json>;
    for (const [key, json] of runToEnd(this.#entriesInSteps(stored))) setOwn(merged, key, json);
    for (const key of keys) {
      const override = this.#overrides.get(key);
      if (override !== undefined) setOwn(merged, key, override);
    }
    this.#lists.onRead(merged);
    return merged;
  }
}

/** Validates what a blackboard returns, perhaps one of somebody else. @throws Error after "the blackboard cannot be read: " */
export function assertRecord(stored: unknown): Record<string, Json> {
  if (isObject(stored)) return stored as Record<string, Json>;
  throw new Error(`it returned ${describeKind(stored)} instead of an object of keys and values`);
}

/** A key of a record, and its value as frozen JSON. */
export type FrozenEntry = readonly [key: string, json: Json];

/** Copies each value of a record into frozen JSON, in steps, and returns the copies by key. @throws Error as `copyToJson` */
export function* freezeEntriesInSteps(values: object): Steps<readonly FrozenEntry[]> {
  const plain = isPlain(values) && !Array.isArray(values) ? values : (yield* copyToJsonInSteps(values)).json;
  const record = plain as Readonly<Record<string, unknown>>;
  const keys = Object.keys(record);
  // Copied as a list: a second object with as many keys would take twice as long as the copies.
  const { json } = yield* copyToJsonInSteps(keys.map((key) => record[key]));
  const copies = json as readonly Json[];
  return keys
    .map((key, position): FrozenEntry => [key, copies[position] as Json])
    .filter(([key]) => record[key] !== undefined);
}
