import { type DependencyList, PGraph, type PGraphNodeMap } from 'p-graph';
import type { Json } from '../../lib/common/json/json.js';
import type { Pipeline } from '../../lib/pipelines/pipeline.js';
import { type Peer, type RunOnce, work } from './peer.js';

/**
 * p-graph by Microsoft: functions, the order between them, a limit of concurrency and priorities.
 *
 * Less than we do: it keeps no outputs (the map here is ours, as on the floor), no state of a run or a task, no
 * retries, no timeouts, no cancelling. More: a task starts as soon as its own upstream is through, not the whole wave.
 */
export const pGraph: Peer = {
  name: 'p-graph',
  packageName: 'p-graph',
  prepare: (pipeline) => {
    let outputs = new Map<string, Json>();
    const run = async (id: string): Promise<void> => {
      const task = pipeline.tasks.get(id);
      if (task === undefined) throw new Error(`no task ${id}`);
      outputs.set(id, await work(task, (upstream) => outputs.get(upstream)));
    };
    const graph = buildGraph(pipeline, run);
    const once: RunOnce = async () => {
      const mine = new Map<string, Json>();
      outputs = mine;
      await graph.run();
      return (id) => mine.get(id);
    };
    return once;
  },
};

function buildGraph({ tasks }: Pipeline, run: (id: string) => Promise<void>): PGraph {
  const functions: PGraphNodeMap = new Map();
  const order: DependencyList = [];
  for (const { id, upstream } of tasks.values()) {
    functions.set(id, { run: () => run(id) });
    for (const before of upstream) order.push([before, id]);
  }
  return new PGraph(functions, order);
}
