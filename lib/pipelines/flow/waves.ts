import type { Steps } from '../../common/scheduling/steps.js';

/** Maps each task id to the ids of the tasks that must run before it. Iterates in declared order. */
export type Upstream = ReadonlyMap<string, ReadonlySet<string>>;

export type Layering =
  | { readonly ok: true; readonly waves: readonly (readonly string[])[] }
  | {
      readonly ok: false;
      /** From a task back to itself; each needs the next: `a, b, a` (D8). */
      readonly cycle: readonly string[];
    };

/**
 * Partitions tasks into waves: a task is in the first wave after all of its upstream tasks (rule 1). Within a wave,
 * tasks are in declared order. Linear in the number of tasks and references.
 */
export function* computeWaves(upstream: Upstream): Steps<Layering> {
  const waveOf = new Map<string, number>();
  const missing = new Map<string, number>();
  const downstream = yield* invert(upstream);
  let ready: string[] = [];
  for (const [id, needs] of upstream) {
    missing.set(id, needs.size);
    if (needs.size === 0) ready.push(id);
  }
  for (let wave = 0; ready.length > 0; wave++) {
    yield;
    for (const id of ready) waveOf.set(id, wave);
    ready = ready.flatMap((id) => release(downstream.get(id) ?? [], missing));
  }
  if (waveOf.size < upstream.size) return { ok: false, cycle: findCycle(upstream, waveOf) };
  const waves: string[][] = [];
  for (const id of upstream.keys()) (waves[waveOf.get(id) ?? 0] ??= []).push(id);
  return { ok: true, waves };
}

/** Maps each task to the number of its wave, from 0. */
export function numberWaves(waves: readonly (readonly string[])[]): ReadonlyMap<string, number> {
  return new Map(waves.flatMap((wave, index) => wave.map((id) => [id, index] as const)));
}

function* invert(upstream: Upstream): Steps<Map<string, string[]>> {
  const downstream = new Map<string, string[]>();
  for (const [id, needs] of upstream) {
    yield;
    for (const need of needs) {
      const followers = downstream.get(need);
      if (followers) followers.push(id);
      else downstream.set(need, [id]);
    }
  }
  return downstream;
}

/** Subtracts one from the missing upstream tasks of each follower, and returns the followers that miss none. */
function release(followers: readonly string[], missing: Map<string, number>): string[] {
  return followers.filter((id) => {
    const left = (missing.get(id) ?? 0) - 1;
    missing.set(id, left);
    return left === 0;
  });
}

/** Every task without a wave needs another one without a wave, so following the needs leads into a cycle. */
function findCycle(upstream: Upstream, waveOf: ReadonlyMap<string, number>): string[] {
  const start = [...upstream.keys()].find((id) => !waveOf.has(id)) ?? '';
  const order = new Map<string, number>();
  let id = start;
  while (!order.has(id)) {
    order.set(id, order.size);
    id = [...(upstream.get(id) ?? [])].find((need) => !waveOf.has(need)) ?? '';
  }
  const path = [...order.keys()].slice(order.get(id));
  return [...path, id];
}
