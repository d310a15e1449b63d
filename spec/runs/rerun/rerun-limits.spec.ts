import { expect } from 'chai';
import { settle } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';
import { ControlledRuns } from '../controlled-runs.js';
import { DIAMOND, Reruns } from './reruns.js';

describe('RunRegistry.rerun of a cancelled run (D35)', () => {
  const TWO = `{id: held, goal: g, tasks: [{id: a, tool: controlled}, {id: b, tool: controlled, inputs: {x: "{{a.output}}"}}]}`;

  it('reuses the outputs of its last wave', async () => {
    const fixture = new ControlledRuns({}, TWO);
    const first = await fixture.submit();
    await fixture.registry.cancel(first);
    expect(await catchRejection(fixture.registry.rerun(first, { from: 'failed' }))).to.include({
      code: 'run_not_settled',
    });
    await fixture.complete(first);
    expect(fixture.getStatus(first)).to.equal('cancelled');
    const second = await fixture.registry.rerun(first, { from: 'failed' });
    await settle();
    await fixture.complete(second);
    expect(fixture.controlled.order).to.deep.equal(['a', 'b']);
    expect(fixture.registry.record(second).result?.outputs).to.deep.equal({ a: 'done', b: 'done' });
  });

  it('says of a task that a forced cancel has stopped that it was aborted, and not that it has failed', async () => {
    const fixture = new ControlledRuns({}, TWO);
    const [runId = ''] = await fixture.submitAll(['a']);
    await fixture.waitUntilIdle();
    await fixture.registry.cancel(runId, { force: true });
    const { runs } = await fixture.registry.previewRerun(runId, { from: 'failed' });
    expect(runs.map(({ task_id, reason }) => [task_id, reason])).to.deep.equal([
      ['a', 'was aborted'],
      ['b', 'has not run'],
    ]);
  });

  it('reuses nothing of a task stopped by force, nor of a run that never started', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 1, maxQueued: 1 } }, TWO);
    const [first = '', second = ''] = await fixture.submitAll(['a', 'a']);
    await fixture.registry.cancel(second);
    await fixture.registry.cancel(first, { force: true });
    for (const runId of [first, second]) {
      const again = await fixture.registry.rerun(runId, { from: 'failed' });
      await fixture.waitUntilIdle();
      expect(fixture.findCall(again).context.task_id).to.equal('a');
      await fixture.registry.cancel(again, { force: true });
    }
  });
});

describe('RunRegistry.rerun: options (D35)', () => {
  it('uses the options of the first run', async () => {
    const fanOut =
      '{id: p, goal: g, inputs: {list: [1, 2]}, tasks: [{id: a, tool: controlled, parallel_over: "{{pipeline.inputs.list}}", inputs: {x: "{{item}}"}}]}';
    const fixture = new ControlledRuns({}, fanOut);
    const options = { fan_out_concurrency: 1 };
    const first = await fixture.registry.submit({ pipeline: fixture.pipeline, options });
    await fixture.waitUntilIdle();
    await fixture.registry.cancel(first, { force: true });
    await fixture.registry.rerun(first);
    await fixture.waitUntilIdle();
    expect(fixture.controlled.order).to.deep.equal(['a[0]', 'a[0]']);
  });
});

describe('RunRegistry.rerun: rejected reruns (D35)', () => {
  it('rejects a running or queued run with run_not_settled', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 1, maxQueued: 1 } });
    const [first = '', second = ''] = await fixture.submitAll(['a', 'a']);
    const error = await catchRejection(fixture.registry.rerun(first));
    expect(error)
      .to.include({ code: 'run_not_settled' })
      .with.property('message')
      .that.includes('still has tasks running: wait until it settles');
    expect(await catchRejection(fixture.registry.rerun(second, { from: 'a' }))).to.include({
      code: 'run_not_settled',
    });
  });

  it('rejects from "failed" with nothing_to_rerun when the run succeeded', async () => {
    const reruns = new Reruns();
    const { run_id } = await reruns.run(DIAMOND);
    expect(await catchRejection(reruns.registry.rerun(run_id, { from: 'failed' }))).to.include({
      code: 'nothing_to_rerun',
    });
    expect(reruns.registry.list({ limit: 10 }).runs).to.have.length(1);
  });

  it('rejects an unknown task with invalid_request and an unknown run with run_not_found', async () => {
    const reruns = new Reruns();
    const { run_id } = await reruns.run(DIAMOND);
    for (const from of ['x', '', '__proto__', 'constructor']) {
      const error = await catchRejection(reruns.registry.rerun(run_id, { from }));
      expect(error).to.include({
        code: 'invalid_request',
        message: `the pipeline has no task "${from}"; its tasks are a, b, c, d`,
      });
    }
    expect(await catchRejection(reruns.registry.rerun('nothing'))).to.include({ code: 'run_not_found' });
  });

  it('names 20 tasks of a long pipeline that has no such task, and counts the others', async () => {
    const ids = Array.from({ length: 23 }, (_, index) => `t${index}`);
    const reruns = new Reruns();
    const { run_id } = await reruns.run(ids.map((id) => `{id: ${id}, tool: mock}`).join(', '));
    const error = await catchRejection(reruns.registry.rerun(run_id, { from: 'x' }));
    expect(error)
      .to.have.property('message')
      .that.matches(/; its tasks are t0, .*, t19 and 3 more$/);
  });

  it('refuses inputs that have become more than 100,000 in a chain of reruns, and keeps the earlier run', async () => {
    const values = (from: number, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${from + index}`, index]));
    const reruns = new Reruns();
    const task = '{id: t, tool: echo, inputs: {text: "{{pipeline.inputs.k0}}"}}';
    const first = await reruns.run(task, { inputs: values(0, 60_000) });
    const second = await reruns.fix(first.run_id, { inputs: { ...values(60_000, 40_000), k0: 'new' } });
    expect(second.outputs).to.deep.equal({ t: 'new' });
    const { run_id } = second.record;
    const error = await catchRejection(reruns.registry.rerun(run_id, { inputs: { one: 1 } }));
    expect(error).to.include({ code: 'invalid_inputs' });
    expect(error)
      .to.have.property('message')
      .that.matches(/at most 100000 inputs/);
    expect((await reruns.rerun(run_id)).outputs).to.deep.equal({ t: 'new' });
  });

  it('applies the admission limits to reruns', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 1, maxQueued: 0 } });
    const first = await fixture.submitAndComplete();
    const second = await fixture.registry.rerun(first);
    expect(await catchRejection(fixture.registry.rerun(first))).to.include({ code: 'queue_full' });
    await fixture.waitUntilIdle();
    await fixture.complete(second);
    expect(fixture.getStatus(second)).to.equal('succeeded');
  });
});
