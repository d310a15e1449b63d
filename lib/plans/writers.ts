import type { DraftSubPipeline, PlanDraft } from './draft.js';

/** Which sub-pipelines list a key in `stores`: one, in a sound plan (Plan, rule 3). */
export class Writers {
  readonly #of = new Map<string, DraftSubPipeline[]>();

  constructor({ subPipelines }: PlanDraft) {
    for (const subPipeline of subPipelines) {
      for (const { key } of subPipeline.stores) {
        const known = this.#of.get(key);
        if (known === undefined) this.#of.set(key, [subPipeline]);
        else if (known.at(-1) !== subPipeline) known.push(subPipeline);
      }
    }
  }

  /** Keys that a sub-pipeline could read: others store them. */
  *keysFor(reader: DraftSubPipeline): Iterable<string> {
    for (const key of this.#of.keys()) if (this.other(key, reader) !== undefined) yield key;
  }

  has(key: string): boolean {
    return this.#of.has(key);
  }

  first(key: string): DraftSubPipeline | undefined {
    return this.#of.get(key)?.[0];
  }

  /** The first that stores the key and is not `reader`: nobody waits for itself. */
  other(key: string, reader: DraftSubPipeline): DraftSubPipeline | undefined {
    const [first, second] = this.#of.get(key) ?? [];
    return first === reader ? second : first;
  }
}
