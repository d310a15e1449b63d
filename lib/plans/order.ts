import { Readiness } from '../../machines/readiness.js';
import type { Finding } from '../definition/schema/structure.js';
import { certain, entryOf } from '../pipelines/certain.js';
import { shortenedList } from '../pipelines/shortened-list.js';
import type { Layering, Upstream } from '../waves/layering.js';
import type { DraftSubPipeline, PlanDraft } from './draft.js';
import type { Writers } from './writers.js';

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
