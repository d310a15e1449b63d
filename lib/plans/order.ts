import { Readiness } from '../../machines/readiness.js';
import { assertDefined, getOrThrow } from '../definition/assert.js';
import type { Diagnostic } from '../definition/problems/diagnostic.js';
import { abbreviate } from '../definition/problems/problem.js';
import type { Layering, Upstream } from '../pipelines/flow/waves.js';
import { listConditionKeys } from './conditions.js';
import type { DraftSubPipeline, PlanDraft } from './draft.js';

/** Finds which sub-pipelines run before each one, by name: those that store what it, or a condition of it, reads (Plan, rule 1). */
export function computeNeeds({ subPipelines }: PlanDraft, writers: KeyWriters): Upstream {
  const needsOf = (reader: DraftSubPipeline): ReadonlySet<string> =>
    new Set(listReadKeys(reader).flatMap((key) => writers.other(key, reader)?.name ?? []));
  return new Map(subPipelines.map((reader) => [reader.name, needsOf(reader)]));
}

/** Lists the keys that order a sub-pipeline after those that store them. */
export function listReadKeys({ reads, conditions }: DraftSubPipeline): string[] {
  const keys = reads.map(({ key }) => key);
  return conditions.length === 0 ? keys : [...keys, ...listConditionKeys(conditions).all];
}

/**
 * Orders sub-pipelines to run one after another: when several are ready, they run in declaration order (D45). Leaves
 * out names on a cycle, and those that need them.
 */
export function computeOrder(needs: Upstream): string[] {
  const readiness = new Readiness([...needs].map(([id, names]) => ({ id, needs: [...names] })));
  const order: string[] = [];
  for (let next = readiness.next(); next !== undefined; next = readiness.next()) {
    order.push(next);
    readiness.release(next);
  }
  return order;
}

/** Reports a cycle with its path and the keys that cause it (D8). */
export function describeCycle(
  { cycle }: Layering & { ok: false },
  { subPipelines }: PlanDraft,
  writers: KeyWriters,
): Diagnostic {
  const byName = new Map(subPipelines.map((subPipeline) => [subPipeline.name, subPipeline]));
  const members = cycle.map((name) => getOrThrow(byName, name));
  const first = assertDefined(members[0], 'a cycle');
  const links = members.slice(1).map((writer, index) => {
    const reader = assertDefined(members[index], `the reader of "${writer.name}"`);
    return `${reader.name} reads "${findSharedKey(reader, writer, writers)}" from ${writer.name}`;
  });
  return {
    code: 'cycle',
    message: `sub-pipelines wait for each other: ${abbreviate(cycle).join(' -> ')} (${abbreviate(links).join(', ')})`,
    path: first.path,
    hint: 'each reads what the next one stores; remove one of these keys',
  };
}

/** Finds a key that makes the reader wait for the writer. */
function findSharedKey(reader: DraftSubPipeline, writer: DraftSubPipeline, writers: KeyWriters): string {
  const read = listReadKeys(reader).find((key) => writers.other(key, reader) === writer);
  return assertDefined(read, `a key that "${reader.name}" reads from "${writer.name}"`);
}

/** The sub-pipelines that list each key in `stores`: one per key, in a valid plan (Plan, rule 3). */
export class KeyWriters {
  readonly #byKey = new Map<string, DraftSubPipeline[]>();

  constructor({ subPipelines }: PlanDraft) {
    for (const subPipeline of subPipelines) {
      for (const { key } of subPipeline.stores) {
        const writers = this.#byKey.get(key);
        if (writers === undefined) this.#byKey.set(key, [subPipeline]);
        else if (writers.at(-1) !== subPipeline) writers.push(subPipeline);
      }
    }
  }

  /** Returns the keys that a sub-pipeline, or a handler, can read, because others store them. */
  *keysFor(reader: DraftSubPipeline | undefined): Iterable<string> {
    for (const key of this.#byKey.keys()) if (this.other(key, reader) !== undefined) yield key;
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  first(key: string): DraftSubPipeline | undefined {
    return this.#byKey.get(key)?.[0];
  }

  /** Returns the first sub-pipeline other than `reader` that stores the key. */
  other(key: string, reader: DraftSubPipeline | undefined): DraftSubPipeline | undefined {
    const [first, second] = this.#byKey.get(key) ?? [];
    return first === reader ? second : first;
  }
}
