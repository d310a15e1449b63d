import { HANDLER_LISTS } from '../definition/schema/fields.js';
import type { PipelineDefinition } from '../definition/schema/schema.js';
import type { StatisticsSchema } from '../common/wire/report.js';
import type { Shape } from '../common/wire/shape.js';

/** The facts that `validate` prints about a valid pipeline (Command-line interface). */
export interface Statistics extends Shape<typeof StatisticsSchema> {}

export function computeStatistics(
  definition: PipelineDefinition,
  waves: readonly (readonly string[])[],
  storeKeys: Iterable<string>,
): Statistics {
  const { tasks } = definition;
  const handlers = HANDLER_LISTS.flatMap((list) => definition[list] ?? []);
  return {
    id: definition.id,
    goal: definition.goal,
    tasks: tasks.length,
    ...(handlers.length > 0 && { handlers: handlers.length }),
    tools: [...new Set([...tasks, ...handlers].map((task) => task.tool))].sort(),
    inputs_count: Object.keys(definition.inputs ?? {}).length,
    store_keys: [...new Set(storeKeys)],
    waves: waves.length,
    wave_sizes: waves.map((wave) => wave.length),
    fan_out_tasks: tasks.filter((task) => task.parallel_over !== undefined).length,
    total_retries: tasks.reduce((sum, task) => sum + (task.retry ?? 0), 0),
  };
}
