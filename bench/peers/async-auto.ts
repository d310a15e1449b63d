import async from 'async';
import type { Json } from '../../lib/common/json/json.js';
import type { Task } from '../../lib/pipelines/pipeline.js';
import { type Peer, work } from './peer.js';

type Results = Record<string, Json>;
type AutoTask = (() => Promise<Json>) | [...string[], (results: Results) => Promise<Json>];

/**
 * `auto` of the async library: functions by name, each with the names of those whose results it gets.
 *
 * Less than we do: no state of a run or a task, no cancelling from outside; retries and timeouts are other functions of
 * the library to wrap a task in. More: a task starts as soon as its own upstream is through. Nothing can be built
 * before a run: each looks for cycles anew, in a time that grows with the square of the tasks. The search is measured,
 * since no user can avoid it.
 */
export const asyncAuto: Peer = {
  name: 'async.auto',
  packageName: 'async',
  prepare: ({ tasks }) => {
    const functions = Object.fromEntries([...tasks.values()].map((task) => [task.id, autoTask(task)]));
    return async () => {
      const results: Results = await async.auto<Results>(functions);
      return (id) => results[id];
    };
  },
};

/** Native async functions: `auto` knows them by that and gives them no callback. */
function autoTask(task: Task): AutoTask {
  if (task.upstream.length === 0) return async () => work(task, () => undefined);
  return [...task.upstream, async (results: Results) => work(task, (id) => results[id])];
}
