import { expect } from 'chai';
import { ManualClock } from '../../support/manual-clock.js';
import { ControlledRuns } from '../controlled-runs.js';
import { Reruns } from './reruns.js';

const COLLECT =
  '{id: each, tool: echo, on_item_error: collect, parallel_over: "{{pipeline.inputs.list}}", inputs: {text: "{{item}}"}}';
const OTHER = '{id: other, tool: echo, inputs: {text: o}}';

describe('RunRegistry.rerun of a fan-out whose errors were collected (D60, D67)', () => {
  const FAILED = { task_id: 'each', error: 'each is broken', attempts: 1, item: 1, collected: true };

  it('keeps the collected failures of a task that is reused as a whole', async () => {
    const reruns = new Reruns();
    reruns.broken.add('each[1]');
    const { run_id } = await reruns.run(`${COLLECT}, ${OTHER}`, { inputs: { list: ['a', 'b', 'c'] } });
    const { record, calls } = await reruns.rerun(run_id, 'other');
    expect(calls).to.deep.equal(['other']);
    expect(record).to.deep.include({ status: 'succeeded', failures: [FAILED] });
    const { registry, events } = reruns;
    expect(await registry.task(record.run_id, 'each')).to.deep.include({ status: 'succeeded', reused: true });
    const { items } = await registry.items(record.run_id, 'each');
    expect(items.map(({ status, reused, error }) => [status, reused, error?.message])).to.deep.equal([
      ['succeeded', true, undefined],
      ['failed', true, 'each is broken'],
      ['succeeded', true, undefined],
    ]);
    const finish = events.find((event) => event.kind === 'finish' && event.task_id === 'each');
    expect(finish).to.deep.include({ reused: true, failed_items: 1 });
  });

  it('runs the items that failed again after a rerun that reused the task as a whole', async () => {
    const reruns = new Reruns();
    reruns.broken.add('each[1]');
    const first = await reruns.run(`${COLLECT}, ${OTHER}`, { inputs: { list: ['a', 'b', 'c'] } });
    const second = await reruns.rerun(first.run_id, 'other');
    reruns.broken.clear();
    const third = await reruns.rerun(second.record.run_id, 'failed');
    expect(third.calls).to.deep.equal(['each[1]']);
    expect(third.record.failures).to.deep.equal([]);
    expect(third.outputs).to.deep.equal({ each: ['a', 'b', 'c'], other: 'o' });
  });

  it('never reuses an item that failed, also when another task is named and the list has changed', async () => {
    const reruns = new Reruns();
    reruns.broken.add('each[1]');
    const { run_id } = await reruns.run(`${COLLECT}, ${OTHER}`, { inputs: { list: ['a', 'b', 'c'] } });
    reruns.broken.clear();
    const { calls, outputs } = await reruns.fix(run_id, {
      from: 'other',
      inputs: { list: ['a', 'b', 'c', 'd'] },
    });
    expect(calls.sort()).to.deep.equal(['each[1]', 'each[3]', 'other']);
    expect(outputs).to.deep.include({ each: ['a', 'b', 'c', 'd'] });
  });
});

describe('RunRegistry.rerun of a rerun whose fan-out failed (D60)', () => {
  const EACH =
    '{id: each, tool: echo, parallel_over: "{{pipeline.inputs.list}}", inputs: {text: "{{item}}"}, fan_out_concurrency: 1}';

  it('reuses the items of the first run that the first rerun has not reached', async () => {
    const reruns = new Reruns();
    const list = ['a', 'b', 'c', 'd', 'e'];
    const first = await reruns.run(EACH, { inputs: { list } });
    reruns.broken.add('each[1]');
    const second = await reruns.fix(first.run_id, { inputs: { list: ['a', 'x', 'c', 'y', 'e'] } });
    expect(second.calls).to.deep.equal(['each[1]']);
    expect(second.record.status).to.equal('failed');
    reruns.broken.clear();
    const third = await reruns.rerun(second.record.run_id, 'failed');
    expect(third.calls).to.deep.equal(['each[1]', 'each[3]']);
    expect(third.outputs).to.deep.equal({ each: ['a', 'x', 'c', 'y', 'e'] });
  });

  it('keeps an item whose output is null', async () => {
    const reruns = new Reruns();
    reruns.broken.add('each[2]');
    const first = await reruns.run(EACH, { inputs: { list: [null, 'b', 'c'] } });
    reruns.broken.clear();
    const { calls, outputs } = await reruns.rerun(first.run_id, 'failed');
    expect(calls).to.deep.equal(['each[2]']);
    expect(outputs).to.deep.equal({ each: [null, 'b', 'c'] });
  });
});

describe('RunRegistry.rerun of a fan-out whose items have a condition (D60, D78)', () => {
  const EACH =
    '{id: each, tool: echo, parallel_over: "{{pipeline.inputs.list}}", when: "{{item.on}}", inputs: {text: "{{item.text}}"}}';

  it('calls no item again whose output is null, and skips again what it had skipped', async () => {
    const reruns = new Reruns();
    const list = [
      { on: true, text: null },
      { on: false, text: 'b' },
      { on: true, text: 'c' },
    ];
    const first = await reruns.run(`${EACH}, ${OTHER}`, { inputs: { list } });
    const { record, calls, outputs } = await reruns.rerun(first.run_id, 'other');
    expect(calls).to.deep.equal(['other']);
    expect(outputs).to.deep.include({ each: [null, null, 'c'] });
    const { items } = await reruns.registry.items(record.run_id, 'each');
    expect(items.map(({ status, reused }) => [status, reused])).to.deep.equal([
      ['succeeded', true],
      ['skipped', false],
      ['succeeded', true],
    ]);
  });

  it('decides each item anew when the part of it has changed that its condition reads', async () => {
    const reruns = new Reruns();
    const before = [true, false, true, false].map((on, index) => ({
      on,
      text: index === 3 ? null : `${index}`,
    }));
    const first = await reruns.run(EACH, { inputs: { list: before } });
    const list = before.map(({ text }, index) => ({ on: index > 0, text }));
    const { calls, outputs } = await reruns.fix(first.run_id, { inputs: { list } });
    expect(calls).to.deep.equal(['each[1]', 'each[3]']);
    expect(outputs).to.deep.equal({ each: [null, '1', '2', null] });
  });
});

describe('RunRegistry.rerun with a definition whose defaults have changed (D60)', () => {
  const HEAD = (value: number): string =>
    `params: {p: {type: integer, default: ${value}}}, inputs: {i: ${value}},`;
  const TASKS = '{id: t, tool: echo, inputs: {text: "{{params.p}} {{pipeline.inputs.i}}"}}';

  for (const [title, values, output] of [
    [
      'keeps values that were sent, although they equal the old defaults',
      { params: { p: 1 }, inputs: { i: 1 } },
      '1 1',
    ],
    ['takes the new defaults of values that were not sent', {}, '2 2'],
  ] as const) {
    it(title, async () => {
      const reruns = new Reruns();
      const { run_id } = await reruns.run(`${TASKS}, ${OTHER}`, values, HEAD(1));
      // A rerun without a changed definition keeps which values were sent.
      const second = await reruns.rerun(run_id, 'other');
      const changed = reruns.parse(`${TASKS}, ${OTHER}`, {}, HEAD(2));
      const { outputs } = await reruns.fix(second.record.run_id, { pipeline: changed, from: 'other' });
      expect(outputs).to.deep.include({ t: output });
    });
  }

  it('keeps inputs that were sent and take long to copy', async () => {
    const reruns = new Reruns();
    const i = Array.from({ length: 50_000 }, (_, index) => index);
    const { run_id } = await reruns.run(
      `{id: t, tool: echo, inputs: {text: "{{pipeline.inputs.i.length}} {{pipeline.inputs.j}}"}}, ${OTHER}`,
      { inputs: { i } },
      'inputs: {i: [], j: 1},',
    );
    const changed = reruns.parse(
      `{id: t, tool: echo, inputs: {text: "{{pipeline.inputs.i.length}} {{pipeline.inputs.j}}"}}, ${OTHER}`,
      {},
      'inputs: {i: [], j: 2},',
    );
    const { outputs } = await reruns.fix(run_id, { pipeline: changed });
    expect(outputs).to.deep.include({ t: '50000 2' });
  });
});

describe('The error of a fan-out that failed (D16, D59)', () => {
  it('is that of the item that failed first, not of the item whose first attempt failed first', async () => {
    const clock = new ManualClock();
    const runs = new ControlledRuns(
      { clock },
      `{id: p, goal: g, inputs: {ns: [0, 1]}, tasks: [
        {id: each, tool: controlled, retry: 1, parallel_over: "{{pipeline.inputs.ns}}", inputs: {n: "{{item}}"}}]}`,
    );
    const runId = await runs.submit();
    const [zero, one] = await runs.controlled.started(2);
    await runs.controlled.rejects(new Error('zero, once'), zero);
    await runs.controlled.rejects(new Error('one, once'), one);
    clock.advance(500);
    const [, , zeroAgain, oneAgain] = await runs.controlled.started(4);
    await runs.controlled.rejects(new Error('one failed first'), oneAgain);
    await runs.controlled.rejects(new Error('zero failed later'), zeroAgain);
    const { error } = await runs.registry.settled(runId);
    expect(error).to.equal('one failed first');
    expect((await runs.registry.task(runId, 'each')).error?.message).to.equal('one failed first');
  });
});
