import { expect } from 'chai';
import { parsePipeline } from '../../lib/pipelines/load.js';
import { RunRegistry } from '../../lib/runs/registry.js';
import { ManualClock } from '../support/manual-clock.js';
import { Puppet } from '../support/puppet.js';
import { rejectionOf } from '../support/rejection.js';

const HELD =
  'pipeline: {id: held, goal: "wait for {{params.whom}}", params: {whom: {}}, tasks: [{id: a, tool: puppet}]}';

async function held() {
  const puppet = new Puppet();
  const clock = new ManualClock();
  const registry = new RunRegistry({ clock });
  const pipeline = parsePipeline(HELD, { tools: [puppet.tool] });
  const runId = await registry.submit({ pipeline, params: { whom: 'Ada' }, tenant_id: 'acme' });
  return { puppet, clock, registry, runId, pipeline };
}

describe('the registry of runs (law L2)', () => {
  it('gives the record of a run as it is now (Run record, D28)', async () => {
    const { puppet, clock, registry, runId } = await held();
    const time = new Date(clock.now()).toISOString();
    const running = {
      run_id: runId,
      kind: 'pipeline',
      status: 'running',
      pipeline_id: 'held',
      tenant_id: 'acme',
      goal: 'wait for Ada',
      settled: false,
      created_at: time,
      started_at: time,
      finished_at: null,
      progress: { waves: 1, waves_executed: 0, tasks: 1, tasks_settled: 0, invocations: 1 },
      result: null,
      error: null,
      failures: [],
      events: null,
      rerun_of: null,
    };
    expect(registry.record(runId)).to.deep.equal(running);
    clock.advance(2000);
    await puppet.returns('came');
    expect(await registry.settled(runId)).to.deep.equal({
      ...running,
      status: 'succeeded',
      settled: true,
      finished_at: new Date(clock.now()).toISOString(),
      progress: { waves: 1, waves_executed: 1, tasks: 1, tasks_settled: 1, invocations: 1 },
      result: { outputs: { a: 'came' }, waves_executed: 1, tasks_executed: 1 },
    });
  });

  it('cancels, and answers the record', async () => {
    const { puppet, registry, runId } = await held();
    expect(await registry.cancel(runId)).to.deep.include({ status: 'cancelled', settled: false });
    expect(await rejectionOf(registry.cancel(runId))).to.include({ code: 'run_already_terminal' });
    expect(await registry.cancel(runId, { force: true })).to.deep.include({
      status: 'cancelled',
      settled: true,
    });
    expect(puppet.calls).to.have.length(1);
  });

  it('refuses params before anything runs', async () => {
    const { registry, pipeline, puppet } = await held();
    const error = await rejectionOf(registry.submit({ pipeline }));
    expect(error).to.include({ code: 'invalid_params', message: 'param "whom" (string) is required' });
    expect(puppet.calls).to.have.length(1);
  });

  it('has exactly one end for a run, however a cancel and its completion race', async () => {
    for (const turnsBefore of [0, 1, 2, 3]) {
      const { puppet, registry, runId } = await held();
      puppet.last.resolve('done');
      for (let turn = 0; turn < turnsBefore; turn++) await Promise.resolve();
      await registry.cancel(runId).catch(() => undefined);
      const { status } = await registry.settled(runId);
      expect(['succeeded', 'cancelled']).to.include(status);
      expect(registry.record(runId).status).to.equal(status);
    }
  });

  it('forgets', async () => {
    const { registry, runId } = await held();
    registry.forget(runId);
    expect(() => registry.record(runId)).to.throw('there is no run');
    expect(await rejectionOf(registry.settled(runId))).to.include({ code: 'run_not_found' });
  });
});
