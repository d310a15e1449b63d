import type { Scope } from '../../lib/definition/template/scope.js';
import type { Json, JsonObject } from '../../lib/common/json/json.js';
import type { Pipeline, Task } from '../../lib/pipelines/pipeline.js';

/** Output of a task by its id, as the peer kept it; undefined when there is none. */
export type Outputs = (taskId: string) => Json | undefined;

/** Runs the tasks once, each after its upstream, and gives what they put out. Only the run is measured. */
export type RunOnce = () => Promise<Outputs>;

/** Another library that runs tasks in the order of their dependencies. */
export interface Peer {
  /** As in the heading of the table. */
  readonly name: string;
  /** As on the registry; its version is the one in package.json. */
  readonly packageName: string;
  /** Builds and compiles what the peer can build once and run many times. Not measured. */
  prepare(pipeline: Pipeline): RunOnce;
}

/**
 * Does for a task what every candidate does, the floor and we too: resolves its two templates, calls the no-op tool. So
 * whatever is measured beyond the floor is what the candidate itself costs.
 */
export async function work(task: Task, output: Outputs): Promise<Json> {
  const scope: Scope = { output, inputs: { n: 0 }, params: {}, session: {}, goal: '' };
  return (await task.tool.run(task.inputs.render(scope) as JsonObject, NO_CONTEXT)) as Json;
}

/** Each wave as its tasks. */
export function waveTasks({ tasks, waves }: Pipeline): Task[][] {
  return waves.map((ids) => ids.flatMap((id) => tasks.get(id) ?? []));
}

const NO_CONTEXT = undefined as never;
