import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { Json } from '../../lib/common/json/json.js';
import type { Pipeline, Task } from '../../lib/pipelines/pipeline.js';
import { type Peer, work } from './peer.js';

type Results = Record<string, Json>;

/**
 * One channel for all outputs; one for each task was tried and is slower on every shape. Its reducer adds to the object
 * it has, although reducers should not: copying it for each output would be a cost of this file, not of the peer.
 */
const State = Annotation.Root({
  outputs: Annotation<Results>({ reducer: (all, some) => Object.assign(all, some), default: () => ({}) }),
});

/**
 * LangGraph.js: state channels, and tasks that run in supersteps, which are waves.
 *
 * More than we do: loops and conditional edges, channels with reducers, streaming, callbacks and tracing hooks,
 * interrupts, checkpoints. All of that is off or unused here (no checkpointer, no callbacks), but the machinery stays.
 * Less: what runs is code, not data that was checked before. Built and compiled outside of what is measured.
 */
export const langGraph: Peer = {
  name: 'LangGraph.js',
  packageName: '@langchain/langgraph',
  prepare: (pipeline) => {
    const graph = compile(pipeline);
    const config = { recursionLimit: pipeline.waves.length + 5 };
    return async () => {
      const { outputs } = await graph.invoke({ outputs: {} }, config);
      return (id) => outputs[id];
    };
  },
};

function compile({ tasks }: Pipeline) {
  const all = [...tasks.values()];
  const graph = new StateGraph(State).addNode(Object.fromEntries(all.map((task) => [task.id, toNode(task)])));
  const ends = new Set(tasks.keys());
  for (const { id, upstream } of all) {
    if (upstream.length === 0) graph.addEdge(START, id);
    for (const before of upstream) {
      graph.addEdge(before, id);
      ends.delete(before);
    }
  }
  for (const id of ends) graph.addEdge(id, END);
  return graph.compile();
}

function toNode(task: Task): (state: typeof State.State) => Promise<typeof State.Update> {
  return async ({ outputs }) => ({ outputs: { [task.id]: await work(task, (id) => outputs[id]) } });
}
