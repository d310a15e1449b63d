import { Readiness } from '../../machines/readiness.js';
import type { Finding } from '../definition/schema/structure.js';
import { certain, entryOf, shortenedList } from '../pipelines/suggestions.js';
import type { Layering, Upstream } from '../pipelines/waves.js';
import type { DraftSubPipeline, PlanDraft } from './draft.js';

/** Who runs before whom, by name: those who store what it reads (Plan, rule 1). */
export function needsOf({ subPipelines }: PlanDraft, writers: Writers): Upstream {
  return new Map(
    subPipelines.map((reader) => [
      reader.name,
      new Set(reader.reads.flatMap(({ key }) => writers.other(key, reader)?.name ?? [])),
    ]),
  );
}

/**
 * One after another: always the first declared of those whose needs are met (D45). Names on a cycle, and behind one,
 * are left out.
 */
export function orderOf(needs: Upstream): string[] {
  const readiness = new Readiness([...needs].map(([id, names]) => ({ id, needs: [...names] })));
  const order: string[] = [];
  for (let next = readiness.next(); next !== undefined; next = readiness.next()) {
    order.push(next);
    readiness.release(next);
  }
  return order;
}

/** A cycle as its path, and the keys that close it (D8). */
export function cycleFinding(
  { cycle }: Layering & { ok: false },
  { subPipelines }: PlanDraft,
  writers: Writers,
): Finding {
  const byName = new Map(subPipelines.map((subPipeline) => [subPipeline.name, subPipeline]));
  const members = cycle.map((name) => entryOf(byName, name));
  const first = certain(members[0], 'a cycle');
  const links = members.slice(1).map((writer, index) => {
    const reader = certain(members[index], `who needs "${writer.name}"`);
    return `${reader.name} reads "${keyBetween(reader, writer, writers)}" of ${writer.name}`;
  });
  return {
    code: 'cycle',
    message: `sub-pipelines wait for each other: ${shortenedList(cycle).join(' -> ')} (${shortenedList(links).join(', ')})`,
    path: first.path,
    hint: 'each reads what the next one stores; take one of these keys away',
  };
}

/** A key that makes the one wait for the other. */
function keyBetween(reader: DraftSubPipeline, writer: DraftSubPipeline, writers: Writers): string {
  const read = reader.reads.find(({ key }) => writers.other(key, reader) === writer);
  return certain(read, `what "${reader.name}" reads of "${writer.name}"`).key;
}

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
