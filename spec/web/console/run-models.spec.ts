import { expect } from 'chai';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import { START, record } from './task-records.js';
import { readView, valuesPath, writeView } from '../../../web/console/run/model/addresses.js';
import { RunEvents, filterEvents } from '../../../web/console/run/model/event-list.js';
import { describeChanges } from '../../../web/console/run/model/values.js';
import { searchJson } from '../../../web/console/run/model/values.js';
import { describeEnded, shownStatus } from '../../../web/console/run/model/shown-status.js';
import { type TaskState, TaskStates, waitsForRetry } from '../../../web/console/run/model/task-states.js';
import { barsOf, listTimeTicks } from '../../../web/console/run/model/timeline-bars.js';

const GRAPH = {
  id: 'p',
  goal: 'g',
  waves: [
    [
      { id: 'a', tool: 'mock', fan_out: false },
      { id: 'each', tool: 'mock', fan_out: true },
    ],
    [{ id: 'b', tool: 'mock', fan_out: false }],
  ],
  edges: [{ from: 'a', to: 'b', kind: 'template' as const }],
};

let seq = 0;

/** An event of the run, `ms` after its start. */
function event(ms: number, more: Record<string, unknown>): LiveEvent {
  return {
    seq: ++seq,
    time: new Date(START + ms).toISOString(),
    run_id: 'r',
    ...more,
  } as unknown as LiveEvent;
}

function open(): TaskStates {
  const tasks = new TaskStates();
  tasks.addPart({ subPipeline: undefined, graph: GRAPH });
  return tasks;
}

function stateOf(tasks: TaskStates, key = 'a'): TaskState {
  const task = tasks.get(key);
  if (task === undefined) throw new Error(`there is no task ${key}`);
  return task;
}

const task = { task_id: 'a', tool: 'mock', wave: 0 };

describe('The tasks of a run page', () => {
  it('are all there before anything has run, in the order of the waves', () => {
    expect([...open().all()].map(({ key, status }) => [key, status])).to.deep.equal([
      ['a', 'pending'],
      ['each', 'pending'],
      ['b', 'pending'],
    ]);
  });

  it('follow the events of a task with a retry, whose attempts and waits become bars', () => {
    const tasks = open();
    tasks.addEvent(event(0, { kind: 'start', ...task }));
    tasks.addEvent(event(100, { kind: 'retry', ...task, attempt: 1, delay_ms: 50, error: 'busy' }));
    expect(stateOf(tasks).retryAt).to.equal(START + 150);
    expect(barsOf(stateOf(tasks), START + 120).map(({ kind }) => kind)).to.deep.equal(['failed', 'wait']);
    expect(waitsForRetry(stateOf(tasks), START + 120)).to.equal(true);
    expect(waitsForRetry(stateOf(tasks), START + 150)).to.equal(false);
    tasks.addEvent(event(300, { kind: 'finish', ...task, attempt: 2, duration_ms: 300 }));
    expect(barsOf(stateOf(tasks), START + 900)).to.deep.equal([
      { kind: 'failed', start: START, end: START + 100 },
      { kind: 'wait', start: START + 100, end: START + 150 },
      { kind: 'done', start: START + 150, end: START + 300 },
    ]);
  });

  it('are aborted, and not failed, when a forced cancel has stopped them, as their bars are', () => {
    const tasks = open();
    const states = (): string[] =>
      [...tasks.all()].map(({ status, error }) => shownStatus(status, error)).slice(0, 2);
    tasks.addEvent(event(0, { kind: 'start', ...task }));
    tasks.addEvent(event(100, { kind: 'fail', ...task, error: 'stopped by force' }));
    tasks.addEvent(event(0, { kind: 'start', ...task, task_id: 'each', items: 2 }));
    tasks.addEvent(event(100, { kind: 'fail', ...task, task_id: 'each', error: 'it has no more paper' }));
    expect(states()).to.deep.equal(['aborted', 'failed']);
    expect(barsOf(stateOf(tasks), START + 900).map(({ kind }) => kind)).to.deep.equal(['stopped']);
    tasks.addRecord(
      record({ status: 'failed', error: { type: 'Error', message: 'stopped by force', causes: [] } }),
    );
    expect(states()).to.deep.equal(['aborted', 'failed']);
    expect(shownStatus('succeeded', null)).to.equal('succeeded');
    expect(describeEnded([...tasks.all(), undefined])).to.equal('1 failed, 1 aborted, 2 not run');
  });

  it('do not go back when an older event is read after the record of the task', () => {
    const tasks = open();
    tasks.addRecord(record({ status: 'failed', error: { type: 'Error', message: 'no', causes: [] } }));
    tasks.addEvent(event(0, { kind: 'start', ...task }));
    expect(stateOf(tasks)).to.include({ status: 'failed', error: 'no', finishedAt: START + 500 });
  });

  it('count the items of a fan-out once, whether their record or their events are read first', () => {
    const each = { task_id: 'each', tool: 'mock', wave: 0 };
    const tasks = open();
    tasks.addRecord(
      record({
        ...each,
        status: 'running',
        finished_at: null,
        items: { total: 4, pending: 1, running: 1, succeeded: 1, failed: 1, skipped: 0 },
      }),
    );
    tasks.addEvent(event(0, { kind: 'start', ...each, items: 4 }));
    tasks.addEvent(event(1, { kind: 'item', ...each, item: 0, phase: 'finish', attempt: 1 }));
    tasks.addEvent(event(2, { kind: 'item', ...each, item: 1, phase: 'fail', attempt: 1, error: 'x' }));
    expect(stateOf(tasks, 'each').items).to.deep.equal({ total: 4, succeeded: 1, failed: 1, skipped: 0 });
    tasks.addEvent(event(3, { kind: 'item', ...each, item: 2, phase: 'finish', attempt: 1 }));
    expect(stateOf(tasks, 'each').items).to.deep.equal({ total: 4, succeeded: 2, failed: 1, skipped: 0 });
    tasks.addEvent(event(4, { kind: 'item', ...each, item: 3, phase: 'skip', attempt: 0, reason: 'no' }));
    expect(stateOf(tasks, 'each').items).to.deep.equal({ total: 4, succeeded: 2, failed: 1, skipped: 1 });
  });

  it('are skipped with a reason, from their event or their record', () => {
    const task = { task_id: 'each', tool: 'mock', wave: 0 };
    const tasks = open();
    tasks.addEvent(event(0, { kind: 'skip', ...task, reason: 'it is no invoice' }));
    expect(stateOf(tasks, 'each')).to.deep.include({ status: 'skipped', skipReason: 'it is no invoice' });
    const others = open();
    others.addRecord(record({ ...task, status: 'skipped', skip_reason: 'it is no invoice' }));
    expect(stateOf(others, 'each')).to.deep.include({ status: 'skipped', skipReason: 'it is no invoice' });
  });

  it('count the items whose events came before the definition of the run', () => {
    const each = { task_id: 'each', tool: 'mock', wave: 0 };
    const tasks = new TaskStates();
    const settle = (item: number): void =>
      tasks.addEvent(event(item, { kind: 'item', ...each, item, phase: 'finish', attempt: 1 }));
    for (let item = 0; item < 40; item++) settle(item);
    tasks.addPart({ subPipeline: undefined, graph: GRAPH });
    const items = { total: 100, pending: 60, running: 0, succeeded: 40, failed: 0, skipped: 0 };
    tasks.addRecord(record({ ...each, status: 'running', finished_at: null, items }));
    for (let item = 40; item < 100; item++) settle(item);
    expect(stateOf(tasks, 'each').items).to.deep.equal({ total: 100, succeeded: 100, failed: 0, skipped: 0 });
  });

  it('leave the task alone that runs a nested pipeline, when a task of that has an event', () => {
    const tasks = open();
    tasks.addEvent(event(0, { kind: 'fail', ...task, within: ['b'], error: 'nested' }));
    expect(stateOf(tasks).status).to.equal('pending');
  });
});

describe('The time axis of a run page', () => {
  it('has about six lines at round numbers', () => {
    expect(listTimeTicks({ start: 0, length: 1000 })).to.deep.equal([0, 200, 400, 600, 800]);
    expect(listTimeTicks({ start: 0, length: 7 })).to.have.length.within(2, 8);
    expect(listTimeTicks({ start: 0, length: 86_400_000 })).to.have.length.within(3, 8);
  });
});

describe('The events of a run page', () => {
  it('are filtered by kind and by text, also by what they say', () => {
    const events = [
      event(0, { kind: 'start', ...task }),
      event(1, { kind: 'fail', ...task, error: 'the disk is full' }),
      event(2, { kind: 'log', task_id: 'b', message: 'hello' }),
    ];
    expect(filterEvents(events, { text: 'DISK', kind: '' }).map(({ kind }) => kind)).to.deep.equal(['fail']);
    expect(filterEvents(events, { text: '', kind: 'log' })).to.have.length(1);
    expect(filterEvents(events, { text: 'a', kind: 'log' })).to.have.length(0);
  });

  it('join the text of a model, which begins again with another request', () => {
    const list = new RunEvents();
    const text = (request: number, part: string): void =>
      list.add(event(0, { kind: 'text', task_id: 'a', request, text: part }));
    text(1, 'Hel');
    text(1, 'lo');
    expect(list.textOf({ taskId: 'a' })).to.equal('Hello');
    text(2, 'Again');
    expect(list.textOf({ taskId: 'a' })).to.equal('Again');
    expect(list.events).to.have.length(0);
  });

  it('keep the last 20,000 and count what was dropped', () => {
    const list = new RunEvents();
    for (let index = 0; index < 20_001; index++)
      list.add(event(index, { kind: 'log', task_id: 'a', message: 'x' }));
    expect(list.events.length + list.dropped).to.equal(20_001);
    expect(list.dropped).to.equal(2000);
  });

  it('have their times from the first event, also when that was dropped', () => {
    const list = new RunEvents();
    for (let index = 0; index < 20_001; index++)
      list.add(event(index, { kind: 'log', task_id: 'a', message: 'x' }));
    expect(list.start).to.equal(START);
  });
});

describe('The address of a run page', () => {
  it('leads back to the tab, the sub-pipeline, the task and the item', () => {
    const view = { tab: 'timeline', selection: { taskId: 'a b', subPipeline: 'east', item: 3 } } as const;
    expect(readView(writeView(view))).to.deep.equal(view);
    expect(readView('')).to.deep.equal({ tab: 'graph', selection: undefined });
    expect(readView('#tab=nonsense&item=x')).to.deep.equal({ tab: 'graph', selection: undefined });
  });

  it('names the path of the values of an item in a sub-pipeline', () => {
    expect(valuesPath({ taskId: 'a', subPipeline: 'east', item: 3 }, { whole: 'true' })).to.equal(
      '/tasks/a/items/3?sub_pipeline=east&whole=true',
    );
  });
});

describe('The form for a rerun', () => {
  it('sends what was changed, and only that', () => {
    expect(describeChanges({ from: 'failed', params: undefined, inputs: '{"a": 1}' })).to.deep.equal({
      ok: true,
      body: { from: 'failed', inputs: { a: 1 } },
    });
    expect(describeChanges({ from: '', params: undefined, inputs: undefined })).to.deep.equal({
      ok: true,
      body: {},
    });
  });

  it('says what is wrong with what was typed', () => {
    const read = describeChanges({ from: '', params: '[1]', inputs: '{' });
    expect(read.ok).to.equal(false);
    expect(read).to.have.nested.property('problems.params').that.includes('JSON object');
    expect(read).to.have.nested.property('problems.inputs').that.includes('no JSON');
  });
});

describe('The search in a value', () => {
  it('keeps what contains the text, by key or by content, in its place', () => {
    const value = { list: [{ name: 'Ada' }, { name: 'Bob' }], Address: { city: 'Bern' }, other: 1 };
    expect(searchJson(value, 'bob')).to.deep.equal({ list: { '1': { name: 'Bob' } } });
    expect(searchJson(value, 'addr')).to.deep.equal({ Address: { city: 'Bern' } });
    expect(searchJson(value, 'nobody')).to.equal(undefined);
  });
});
