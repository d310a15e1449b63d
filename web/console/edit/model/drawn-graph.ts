import type { Graph } from '../../../../lib/pipelines/drawing/graph.js';
import type { PlanStatistics } from '../../../../lib/plans/statistics.js';

/** The drawing of a definition: waves of boxes and what they depend on. */
export interface DrawnGraph {
  /** Of the definition. */
  readonly id: string;
  readonly waves: readonly (readonly {
    readonly id: string;
    readonly tool: string;
    readonly fan_out: boolean;
  }[])[];
  readonly edges: Graph['edges'];
  readonly wave_lists?: Graph['wave_lists'];
}

/** The sub-pipelines of a plan, which of them reads what another one stores, and then the handlers. */
export function drawPlan({ id, wave_ids, keys, handler_waves: handlers = [] }: PlanStatistics): DrawnGraph {
  const edges = new Map<string, Graph['edges'][number]>();
  for (const { stored_by: from, read_by } of keys) {
    if (from === null) continue;
    for (const to of read_by) {
      if (to !== from) edges.set(JSON.stringify([from, to]), { from, to, kind: 'template' });
    }
  }
  const draw = (ids: readonly string[], tool: string) =>
    ids.map((part) => ({ id: part, tool, fan_out: false }));
  return {
    id,
    waves: [
      ...wave_ids.map((ids) => draw(ids, 'pipeline')),
      ...handlers.map(({ ids }) => draw(ids, 'handler')),
    ],
    edges: [...edges.values()],
    ...(handlers.length > 0 && {
      wave_lists: [...wave_ids.map(() => null), ...handlers.map(({ list }) => list)],
    }),
  };
}

/** An id as it is written in YAML or JSON. */
const WRITTEN_ID = /(?<![\w-])id["']?[ \t]*:[ \t]*["']?([\w.-]+)/g;

/**
 * True when a text that cannot be read is still that of a graph: it has the id of the definition, or at least half of
 * its tasks. A text that has neither is another one, which was pasted over it or put in its place.
 */
export function isTextOf({ id, waves }: DrawnGraph, text: string): boolean {
  const ids = new Set(Array.from(text.matchAll(WRITTEN_ID), ([, written]) => written));
  if (ids.has(id)) return true;
  const parts = waves.flat();
  return parts.filter((part) => ids.has(part.id)).length * 2 >= parts.length;
}
