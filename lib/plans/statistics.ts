import type { PlanDefinition } from '../definition/schema/plan-schema.js';
import { entryOf } from '../pipelines/suggestions.js';
import type { Pipeline } from '../pipelines/pipeline.js';

/** What `validate` prints about a sound plan. */
export interface PlanStatistics {
  readonly id: string;
  /** Empty when the plan has none. */
  readonly goal: string;
  /** Number of sub-pipelines. */
  readonly sub_pipelines: number;
  readonly inputs_count: number;
  /** Sub-pipeline ids as they run one after another: each after those whose keys it reads, else as declared (D45). */
  readonly order: readonly string[];
  /** Number of waves of sub-pipelines. */
  readonly waves: number;
  /** Sub-pipelines that need only those of earlier waves, in declared order. */
  readonly wave_ids: readonly (readonly string[])[];
  readonly plan_concurrency: number;
  /** Tasks of all pipelines that are known. */
  readonly tasks: number;
  /** Who stores each key, and who reads it; in the order of `order`. */
  readonly keys: readonly KeyUse[];
}

/** One key of the blackboard within a plan. */
export interface KeyUse {
  readonly key: string;
  /** Null: no sub-pipeline; it was given for the run. */
  readonly stored_by: string | null;
  readonly read_by: readonly string[];
}

/** @param pipelines those that are at hand */
export function planStatisticsOf(
  definition: PlanDefinition,
  order: readonly string[],
  waves: readonly (readonly string[])[],
  pipelines: Iterable<Pipeline>,
): PlanStatistics {
  return {
    id: definition.id,
    goal: definition.goal ?? '',
    sub_pipelines: definition.sub_pipelines.length,
    inputs_count: Object.keys(definition.inputs ?? {}).length,
    order,
    waves: waves.length,
    wave_ids: waves,
    plan_concurrency: definition.plan_concurrency ?? 1,
    tasks: [...pipelines].reduce((sum, { statistics }) => sum + statistics.tasks, 0),
    keys: keysOf(definition, order),
  };
}

/** In a sound plan those who store a key come before those who read it: what is read first was given. */
function keysOf({ sub_pipelines }: PlanDefinition, order: readonly string[]): KeyUse[] {
  const byId = new Map(sub_pipelines.map((declared) => [declared.id, declared]));
  const uses = new Map<string, { stored_by: string | null; read_by: string[] }>();
  const useOf = (key: string): { stored_by: string | null; read_by: string[] } => {
    const known = uses.get(key) ?? { stored_by: null, read_by: [] };
    uses.set(key, known);
    return known;
  };
  for (const id of order) {
    const { reads = [], stores = [] } = entryOf(byId, id);
    for (const key of new Set(reads)) useOf(key).read_by.push(id);
    for (const key of new Set(stores)) useOf(key).stored_by = id;
  }
  return [...uses].map(([key, use]) => ({ key, ...use }));
}
