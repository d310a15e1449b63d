import { getOrThrow } from '../definition/assert.js';
import { HANDLER_LISTS } from '../definition/schema/fields.js';
import type { PlanDefinition } from '../definition/schema/plan-schema.js';
import type { HandlerWaves } from '../pipelines/flow/handlers.js';
import type { Pipeline } from '../pipelines/pipeline.js';
import type { PlanStatisticsSchema } from '../common/wire/report.js';
import type { Shape } from '../common/wire/shape.js';

/** The facts that `validate` prints about a valid plan. */
export interface PlanStatistics extends Shape<typeof PlanStatisticsSchema> {}

/** One key of the blackboard within a plan. */
export type KeyUse = PlanStatistics['keys'][number];

/**
 * @param reads the keys that each sub-pipeline reads, by id
 * @param pipelines the available ones
 * @param handlerWaves undefined for a plan without handlers
 */
export function computePlanStatistics(
  definition: PlanDefinition,
  reads: ReadonlyMap<string, readonly string[]>,
  order: readonly string[],
  waves: readonly (readonly string[])[],
  pipelines: Iterable<Pipeline>,
  handlerWaves: HandlerWaves | undefined,
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
    ...(handlerWaves && countHandlers(handlerWaves)),
    keys: collectKeyUses(definition, reads, order),
  };
}

function countHandlers(waves: HandlerWaves): Pick<PlanStatistics, 'handlers' | 'handler_waves'> {
  const listed = HANDLER_LISTS.flatMap((list) => waves[list].map((ids) => ({ list, ids })));
  return { handlers: listed.flatMap(({ ids }) => ids).length, handler_waves: listed };
}

type KeyUseDraft = { stored_by: string | null; read_by: string[] };

/** In a valid plan the writer of a key comes before its readers; a key that is read first comes from the session. */
function collectKeyUses(
  { sub_pipelines }: PlanDefinition,
  reads: ReadonlyMap<string, readonly string[]>,
  order: readonly string[],
): KeyUse[] {
  const byId = new Map(sub_pipelines.map((declared) => [declared.id, declared]));
  const uses = new Map<string, KeyUseDraft>();
  const getUse = (key: string): KeyUseDraft => {
    const use = uses.get(key) ?? { stored_by: null, read_by: [] };
    uses.set(key, use);
    return use;
  };
  for (const id of order) {
    const { stores = [] } = getOrThrow(byId, id);
    for (const key of new Set(reads.get(id))) getUse(key).read_by.push(id);
    for (const key of new Set(stores)) getUse(key).stored_by = id;
  }
  return [...uses].map(([key, use]) => ({ key, ...use }));
}
