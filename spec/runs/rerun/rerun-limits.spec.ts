import { expect } from 'chai';
import { settle } from '../../support/deferred.js';
import { rejectionOf } from '../../support/rejection.js';
import { HeldRuns } from '../held-runs.js';
import { DIAMOND, Reruns } from './reruns.js';

describe('running a cancelled run again (D35)', () => {
  const TWO = `{id: held, goal: g, tasks: [{id: a, tool: puppet}, {id: b, tool: puppet, inputs: {x: "{{a.output}}"}}]}`;

  it('reuses what its last wave brought', async () => {
    const held = new HeldRuns({}, TWO);
    const first = await held.submit();
    await held.registry.cancel(first);
    expect(await rejectionOf(held.registry.rerun(first, 'failed'))).to.include({ code: 'run_not_settled' });
    await held.end(first);
    expect(held.statusOf(first)).to.equal('cancelled');
    const second = await held.registry.rerun(first, 'failed');
    await settle();
    await held.end(second);
    expect(held.puppet.order).to.deep.equal(['a', 'b']);
    expect(held.registry.record(second).result?.outputs).to.deep.equal({ a: 'done', b: 'done' });
  });

  it('reuses nothing of a task that was stopped by force, nor of a run that never began', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 1 } }, TWO);
    const [first = '', second = ''] = await held.submitAll(['a', 'a']);
    await held.registry.cancel(second);
    await held.registry.cancel(first, { force: true });
    for (const runId of [first, second]) {
      const again = await held.registry.rerun(runId, 'failed');
      await held.filled();
      expect(held.callOf(again).context.task_id).to.equal('a');
      await held.registry.cancel(again, { force: true });
    }
  });
});

describe('the options of a run that is run again (D35)', () => {
  it('are those of the first', async () => {
    const fanOut =
      '{id: p, goal: g, inputs: {list: [1, 2]}, tasks: [{id: a, tool: puppet, parallel_over: "{{pipeline.inputs.list}}", inputs: {x: "{{item}}"}}]}';
    const held = new HeldRuns({}, fanOut);
    const options = { fan_out_concurrency: 1 };
    const first = await held.registry.submit({ pipeline: held.pipeline, options });
    await held.filled();
    await held.registry.cancel(first, { force: true });
    await held.registry.rerun(first);
    await held.filled();
    expect(held.puppet.order).to.deep.equal(['a[0]', 'a[0]']);
  });
});

describe('what cannot be run again (D35)', () => {
  it('is a run that is at work, or waits', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 1 } });
    const [first = '', second = ''] = await held.submitAll(['a', 'a']);
    const error = await rejectionOf(held.registry.rerun(first));
    expect(error)
      .to.include({ code: 'run_not_settled' })
      .with.property('message')
      .that.includes('is still at work: wait for it');
    expect(await rejectionOf(held.registry.rerun(second, 'a'))).to.include({ code: 'run_not_settled' });
  });

  it('is a run that succeeded, from what failed', async () => {
    const reruns = new Reruns();
    const { run_id } = await reruns.run(DIAMOND);
    expect(await rejectionOf(reruns.registry.rerun(run_id, 'failed'))).to.include({
      code: 'nothing_to_rerun',
    });
    expect(reruns.registry.list({ limit: 10 }).runs).to.have.length(1);
  });

  it('is a task that there is not, and a run that there is not', async () => {
    const reruns = new Reruns();
    const { run_id } = await reruns.run(DIAMOND);
    for (const from of ['x', '', '__proto__', 'constructor']) {
      const error = await rejectionOf(reruns.registry.rerun(run_id, from));
      expect(error).to.include({
        code: 'invalid_request',
        message: `the pipeline has no task "${from}"; its tasks are a, b, c, d`,
      });
    }
    expect(await rejectionOf(reruns.registry.rerun('nothing'))).to.include({ code: 'run_not_found' });
  });

  it('waits and is refused as a first run is', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 0 } });
    const first = await held.submit();
    await held.end(first);
    const second = await held.registry.rerun(first);
    expect(await rejectionOf(held.registry.rerun(first))).to.include({ code: 'queue_full' });
    await held.filled();
    await held.end(second);
    expect(held.statusOf(second)).to.equal('succeeded');
  });
});
