import { expect } from 'chai';
import { settle } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';
import { HeldRuns } from '../held-runs.js';
import { DIAMOND, Reruns } from './reruns.js';

describe('RunRegistry.rerun of a cancelled run (D35)', () => {
  const TWO = `{id: held, goal: g, tasks: [{id: a, tool: puppet}, {id: b, tool: puppet, inputs: {x: "{{a.output}}"}}]}`;

  it('reuses the outputs of its last wave', async () => {
    const held = new HeldRuns({}, TWO);
    const first = await held.submit();
    await held.registry.cancel(first);
    expect(await catchRejection(held.registry.rerun(first, 'failed'))).to.include({
      code: 'run_not_settled',
    });
    await held.end(first);
    expect(held.statusOf(first)).to.equal('cancelled');
    const second = await held.registry.rerun(first, 'failed');
    await settle();
    await held.end(second);
    expect(held.puppet.order).to.deep.equal(['a', 'b']);
    expect(held.registry.record(second).result?.outputs).to.deep.equal({ a: 'done', b: 'done' });
  });

  it('reuses nothing of a task stopped by force, nor of a run that never started', async () => {
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

describe('RunRegistry.rerun: options (D35)', () => {
  it('uses the options of the first run', async () => {
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

describe('RunRegistry.rerun: rejected reruns (D35)', () => {
  it('rejects a running or queued run with run_not_settled', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 1 } });
    const [first = '', second = ''] = await held.submitAll(['a', 'a']);
    const error = await catchRejection(held.registry.rerun(first));
    expect(error)
      .to.include({ code: 'run_not_settled' })
      .with.property('message')
      .that.includes('still has tasks running: wait until it settles');
    expect(await catchRejection(held.registry.rerun(second, 'a'))).to.include({ code: 'run_not_settled' });
  });

  it('rejects from "failed" with nothing_to_rerun when the run succeeded', async () => {
    const reruns = new Reruns();
    const { run_id } = await reruns.run(DIAMOND);
    expect(await catchRejection(reruns.registry.rerun(run_id, 'failed'))).to.include({
      code: 'nothing_to_rerun',
    });
    expect(reruns.registry.list({ limit: 10 }).runs).to.have.length(1);
  });

  it('rejects an unknown task with invalid_request and an unknown run with run_not_found', async () => {
    const reruns = new Reruns();
    const { run_id } = await reruns.run(DIAMOND);
    for (const from of ['x', '', '__proto__', 'constructor']) {
      const error = await catchRejection(reruns.registry.rerun(run_id, from));
      expect(error).to.include({
        code: 'invalid_request',
        message: `the pipeline has no task "${from}"; its tasks are a, b, c, d`,
      });
    }
    expect(await catchRejection(reruns.registry.rerun('nothing'))).to.include({ code: 'run_not_found' });
  });

  it('applies the admission limits to reruns', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 0 } });
    const first = await held.submit();
    await held.end(first);
    const second = await held.registry.rerun(first);
    expect(await catchRejection(held.registry.rerun(first))).to.include({ code: 'queue_full' });
    await held.filled();
    await held.end(second);
    expect(held.statusOf(second)).to.equal('succeeded');
  });
});
