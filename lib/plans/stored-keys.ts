import type { Steps } from '../common/scheduling/steps.js';
import type { EarlierValue, KeyLookup, StoredLookup } from '../pipelines/check-context.js';
import type { DraftSubPipeline } from './draft.js';
import type { KeyWriters } from './order.js';

/** The shapes of the session keys that the sub-pipelines of a plan store for those that run later (D13, Plan, rule 1). */
export class StoredKeys {
  readonly #writers: KeyWriters;
  readonly #session: KeyLookup;
  /** Keys that some sub-pipeline reads: the shapes of others are of no use. */
  readonly #read: ReadonlySet<string>;
  readonly #byName = new Map<string, ReadonlyMap<string, EarlierValue>>();

  /** @param session keys that the run brings, with any values */
  constructor(subPipelines: readonly DraftSubPipeline[], writers: KeyWriters, session: KeyLookup) {
    this.#writers = writers;
    this.#session = session;
    this.#read = new Set(subPipelines.flatMap(({ reads }) => reads.map(({ key }) => key)));
  }

  /** Call when the pipeline of a sub-pipeline was found valid. */
  *add({ name, stores }: DraftSubPipeline, stored: StoredLookup): Steps<void> {
    const values = new Map<string, EarlierValue>();
    for (const { key } of stores) {
      if (!this.#read.has(key) || values.has(key)) continue;
      yield;
      const value = stored.valueOf(key);
      if (value !== undefined)
        values.set(key, { ...value, storedBy: `${value.storedBy} of sub-pipeline "${name}"` });
    }
    this.#byName.set(name, values);
  }

  /** Finds the keys that a sub-pipeline reads, as far as one task that is certain to run stores each. */
  *readBy(reader: DraftSubPipeline): Steps<ReadonlyMap<string, EarlierValue>> {
    const found = new Map<string, EarlierValue>();
    for (const key of new Set(reader.reads.map((read) => read.key))) {
      yield;
      if (this.#session.has(key)) continue;
      const writer = this.#writers.other(key, reader);
      const value = writer && this.#byName.get(writer.name)?.get(key);
      if (value !== undefined) found.set(key, value);
    }
    return found;
  }
}
