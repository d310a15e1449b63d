import type { PipelineDefinition } from '../definition/schema/schema.js';

/** The facts that `validate` prints about a valid pipeline (Command-line interface). */
export interface Statistics {
  readonly id: string;
  readonly goal: string;
  /** Number of tasks. */
  readonly tasks: number;
  /** Tool names, sorted. */
  readonly tools: readonly string[];
  readonly inputs_count: number;
  /** The literal keys that `store` tasks write, in the order of the tasks. */
  readonly store_keys: readonly string[];
  /** Number of waves. */
  readonly waves: number;
  readonly wave_sizes: readonly number[];
  /** Number of tasks with `parallel_over`. */
  readonly fan_out_tasks: number;
  /** Sum of `retry` over the tasks (D2). */
  readonly total_retries: number;
}

export function computeStatistics(
  definition: PipelineDefinition,
  waves: readonly (readonly string[])[],
  storeKeys: Iterable<string>,
): Statistics {
  const { tasks } = definition;
  return {
    id: definition.id,
    goal: definition.goal,
    tasks: tasks.length,
    tools: [...new Set(tasks.map((task) => task.tool))].sort(),
    inputs_count: Object.keys(definition.inputs ?? {}).length,
    store_keys: [...new Set(storeKeys)],
    waves: waves.length,
    wave_sizes: waves.map((wave) => wave.length),
    fan_out_tasks: tasks.filter((task) => task.parallel_over !== undefined).length,
    total_retries: tasks.reduce((sum, task) => sum + (task.retry ?? 0), 0),
  };
}
