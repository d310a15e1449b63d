import { type AnyWorkflow, createStep, createWorkflow } from '@mastra/core/workflows';
import { z } from 'zod';
import type { Json } from '../../lib/common/json/json.js';
import type { Pipeline, Task } from '../../lib/pipelines/pipeline.js';
import { type Peer, waveTasks, work } from './peer.js';

const anything = z.any();

/** Options that switch off what users of Mastra can do without and nobody needs here. */
const LEAN = { validateInputs: false, emitStepEvents: false, shouldPersistSnapshot: () => false };

/**
 * Mastra: sequences of `then` and `parallel`.
 *
 * More than we do: schemas between tasks, suspending and resuming, streams, tracing hooks, snapshots to a store. All of
 * them are off or unused here, as far as Mastra allows. Less: Mastra does not find the waves, it is given them. Built
 * and committed outside of what is measured; every run needs a run object of its own, so making that is measured.
 */
export const mastra: Peer = {
  name: 'Mastra',
  packageName: '@mastra/core',
  prepare: (pipeline) => {
    const sequence = commit(pipeline);
    return async () => {
      const run = await sequence.createRun();
      const end = await run.start({ inputData: {} });
      if (end.status !== 'success') throw new Error(`ended as ${end.status}`);
      return (id) => (end.steps[id] as { readonly output?: Json } | undefined)?.output;
    };
  },
};

function commit(pipeline: Pipeline): AnyWorkflow {
  const schemas = { inputSchema: anything, outputSchema: anything };
  let sequence: AnyWorkflow = createWorkflow({ id: 'bench', ...schemas, options: LEAN });
  for (const wave of waveTasks(pipeline)) {
    const [first, ...others] = wave.map(toMastra);
    if (first === undefined) continue;
    sequence = others.length === 0 ? sequence.then(first) : sequence.parallel([first, ...others]);
  }
  sequence.commit();
  return sequence;
}

function toMastra(task: Task) {
  return createStep({
    id: task.id,
    inputSchema: anything,
    outputSchema: anything,
    execute: async (context) => work(task, (id) => context.getStepResult<Json>(id)),
  });
}
