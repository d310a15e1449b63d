import type { PipelineDefinition } from '../definition/schema/schema.js';

/** What must run before what: task id to the ids that come before it. Iterated in declared order. */
export type Upstream = ReadonlyMap<string, ReadonlySet<string>>;

export type Layering =
  | { readonly ok: true; readonly waves: readonly (readonly string[])[] }
  | {
      readonly ok: false;
      /** From a task back to itself, each following the one that it needs: `a, b, a` (D8). */
      readonly cycle: readonly string[];
    };

/**
 * Partitions tasks into waves: a wave holds the tasks whose upstream tasks are all in earlier ones (rule 1). Within
 * a wave they stand in declared order. Linear in the number of tasks and references.
 */
export function layer(upstream: Upstream): Layering {
  const waveOf = new Map<string, number>();
  const missing = new Map<string, number>();
  const downstream = downstreamOf(upstream);
  let ready: string[] = [];
  for (const [id, needs] of upstream) {
    missing.set(id, needs.size);
    if (needs.size === 0) ready.push(id);
  }
  for (let wave = 0; ready.length > 0; wave++) {
    for (const id of ready) waveOf.set(id, wave);
    ready = ready.flatMap((id) => released(downstream.get(id) ?? [], missing));
  }
  if (waveOf.size < upstream.size) return { ok: false, cycle: findCycle(upstream, waveOf) };
  return { ok: true, waves: inDeclaredOrder(upstream, waveOf) };
}

function downstreamOf(upstream: Upstream): Map<string, string[]> {
  const downstream = new Map<string, string[]>();
  for (const [id, needs] of upstream) {
    for (const need of needs) {
      const followers = downstream.get(need);
      if (followers) followers.push(id);
      else downstream.set(need, [id]);
    }
  }
  return downstream;
}

/** Of the tasks after one that is placed, those that waited for nothing else. */
function released(followers: readonly string[], missing: Map<string, number>): string[] {
  return followers.filter((id) => {
    const left = (missing.get(id) ?? 0) - 1;
    missing.set(id, left);
    return left === 0;
  });
}

function inDeclaredOrder(upstream: Upstream, waveOf: ReadonlyMap<string, number>): string[][] {
  const waves: string[][] = [];
  for (const id of upstream.keys()) {
    const wave = waveOf.get(id) ?? 0;
    waves[wave] ??= [];
    waves[wave].push(id);
  }
  return waves;
}

/** Every task that could not be placed needs another such one: following them must come back. */
function findCycle(upstream: Upstream, placed: ReadonlyMap<string, number>): string[] {
  const start = [...upstream.keys()].find((id) => !placed.has(id)) ?? '';
  const order = new Map<string, number>();
  let id = start;
  while (!order.has(id)) {
    order.set(id, order.size);
    id = [...(upstream.get(id) ?? [])].find((need) => !placed.has(need)) ?? '';
  }
  const path = [...order.keys()].slice(order.get(id));
  return [...path, id];
}

/** What `validate` prints about a sound pipeline (Command-line interface). */
export interface Statistics {
  readonly id: string;
  readonly goal: string;
  /** Number of tasks. */
  readonly tasks: number;
  /** Tool names, sorted. */
  readonly tools: readonly string[];
  readonly inputs_count: number;
  /** The literal keys that `store` tasks write, sorted. */
  readonly store_keys: readonly string[];
  /** Number of waves. */
  readonly waves: number;
  readonly wave_sizes: readonly number[];
  /** Number of tasks with `parallel_over`. */
  readonly fan_out_tasks: number;
  /** Sum of `retry` over the tasks (D2). */
  readonly total_retries: number;
}

export function statisticsOf(
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
    store_keys: [...new Set(storeKeys)].sort(),
    waves: waves.length,
    wave_sizes: waves.map((wave) => wave.length),
    fan_out_tasks: tasks.filter((task) => task.parallel_over !== undefined).length,
    total_retries: tasks.reduce((sum, task) => sum + (task.retry ?? 0), 0),
  };
}
