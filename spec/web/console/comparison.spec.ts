import { expect } from 'chai';
import type { TaskPage, TaskRecord } from '../../../lib/runs/tasks/task-record.js';
import {
  compareTasks,
  type ReadTasks,
  readComparedTasks,
} from '../../../web/console/run/model/comparison.js';
import { record } from './task-records.js';

function run(tasks: readonly Partial<TaskRecord>[], isWhole = true): ReadTasks {
  return { tasks: new Map(tasks.map((task) => [task.task_id ?? '', record(task)])), isWhole };
}

const differencesOf = (before: ReadTasks, after: ReadTasks, redefined: readonly string[] = []): unknown[] =>
  compareTasks(before, after, new Set(redefined)).map(({ key, differs }) => [key, differs]);

describe('The comparison of two runs', () => {
  it('lists what differs in each task, and tasks that only one of them has', () => {
    const before = run([{ task_id: 'a', output: 1 }, { task_id: 'gone' }]);
    const after = run([{ task_id: 'a', output: 2, status: 'failed' }, { task_id: 'new' }]);
    expect(differencesOf(before, after)).to.deep.equal([
      ['a', ['state', 'output']],
      ['new', ['it is new']],
      ['gone', ['it is gone']],
    ]);
  });

  it('says of a fan-out, whose inputs are those of its items, that its definition differs', () => {
    const before = run([{ task_id: 'each', inputs: null, output: [1] }]);
    const after = run([{ task_id: 'each', inputs: null, output: [2] }]);
    expect(differencesOf(before, after, ['each'])).to.deep.equal([['each', ['definition', 'output']]]);
  });

  it('finds values equal whose keys stand in another order', () => {
    const before = run([{ task_id: 'a', output: { x: 1, y: 2 } }]);
    const after = run([{ task_id: 'a', output: { y: 2, x: 1 } }]);
    expect(differencesOf(before, after)).to.deep.equal([['a', []]]);
  });

  it('says that values may differ which the server has cut', () => {
    const before = run([{ task_id: 'a', output: 'aaa…', cut: ['/output'] }]);
    const after = run([{ task_id: 'a', output: 'aaa…', cut: ['/output'] }]);
    expect(differencesOf(before, after)).to.deep.equal([['a', ['perhaps output: too large to compare']]]);
  });

  it('leaves out tasks that the rest of a larger run may have', () => {
    const before = run([{ task_id: 'a' }], false);
    const after = run([{ task_id: 'a' }, { task_id: 'b' }]);
    expect(differencesOf(before, after)).to.deep.equal([['a', []]]);
    expect(differencesOf(after, before)).to.deep.equal([['a', []]]);
  });

  it('reads the first 2000 tasks of a run, and knows that there are more', async () => {
    const asked: string[] = [];
    const server = {
      getJson<T>(path: string): Promise<T> {
        const from = 500 * asked.push(path);
        const tasks = Array.from({ length: 500 }, (_, index) => record({ task_id: `t${from + index}` }));
        return Promise.resolve({ tasks, next_cursor: `after ${from}` } satisfies TaskPage as T);
      },
    };
    const { tasks, isWhole } = await readComparedTasks(server, 'r', new AbortController().signal);
    expect([asked.length, tasks.size, isWhole]).to.deep.equal([4, 2000, false]);
  });
});
