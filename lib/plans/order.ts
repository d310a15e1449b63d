import { Readiness } from '../../machines/readiness.js';
import type { Finding } from '../definition/structure.js';
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
  const links = cycle.slice(0, -1).map((name, index) => {
    const key = keyBetween(byName.get(name), cycle[index + 1], writers);
    return `${name} reads "${key}" of ${cycle[index + 1]}`;
  });
  return {
    code: 'cycle',
    message: `sub-pipelines wait for each other: ${shortenedList(cycle).join(' -> ')} (${shortenedList(links).join(', ')})`,
    path: byName.get(cycle[0] ?? '')?.path ?? ['sub_pipelines'],
    hint: 'each reads what the next one stores; take one of these keys away',
  };
}

function keyBetween(
  reader: DraftSubPipeline | undefined,
  writer: string | undefined,
  writers: Writers,
): string {
  const read = reader?.reads.find(({ key }) => writers.other(key, reader)?.name === writer);
  return read?.key ?? '';
}
