import { expect } from 'chai';
import { INSPECTION_LIMITS } from '../../../lib/common/limits.js';
import type { OpenInspection } from '../../../lib/runs/inspection/inspection.js';
import { ControlledPlans } from '../controlled-plans.js';
import { ControlledRuns } from '../controlled-runs.js';
import { entriesOf, EXTRACT_AND_LOAD, KEPT, toLines } from './inspections.js';

const THREE_WAVES = `{id: held, goal: be held, tasks: [
  {id: a, tool: controlled}, {id: b, tool: controlled, await: [a]}, {id: c, tool: controlled, await: [b]}]}`;

/** The last state of each actor. */
function lastStates({ log }: OpenInspection): Record<string, string> {
  return Object.fromEntries(entriesOf(log).map(({ actor, state }) => [actor, state]));
}

async function leave(runs: ControlledRuns, view: OpenInspection): Promise<void> {
  view.close();
  runs.clock.advance(INSPECTION_LIMITS.lingerMs + 1);
  await runs.waitUntilIdle();
}

describe('A run that was recorded for a while', () => {
  it('is shown to its end when it has settled while nobody looked', async () => {
    const runs = new ControlledRuns(KEPT, THREE_WAVES);
    const runId = await runs.submit();
    const first = await runs.registry.queries.inspection(runId);
    await leave(runs, first);
    await runs.resolveCall(runId, 1);
    await runs.resolveCall(runId, 1);
    await runs.fail(runId, 'no luck');
    const [view, other] = await Promise.all([
      runs.registry.queries.inspection(runId),
      runs.registry.queries.inspection(runId),
    ]);
    expect(view.log).to.equal(first.log);
    expect(other.log).to.equal(first.log);
    expect(toLines(entriesOf(view.log)).slice(3)).to.deep.equal([
      'run/wave/a @attached:  > succeeded',
      'run/wave/b @attached:  > succeeded',
      'run/wave/c @attached:  > failed',
      'run/wave @attached:  > stopped',
      'run @attached:  > failed',
    ]);
    expect(view.log.isClosed).to.equal(true);
    view.close();
    other.close();
  });

  it('leaves no task at work that has settled between two viewers', async () => {
    const runs = new ControlledRuns(KEPT, THREE_WAVES);
    const runId = await runs.submit();
    await leave(runs, await runs.registry.queries.inspection(runId));
    await runs.resolveCall(runId, 1);
    await runs.resolveCall(runId, 1);
    const view = await runs.registry.queries.inspection(runId);
    expect(lastStates(view)).to.include({
      'run/wave/a': 'succeeded',
      'run/wave/b': 'succeeded',
      'run/wave/c': 'invoking',
    });
    await runs.complete(runId);
    expect(lastStates(view)).to.include({ 'run/wave/c': 'succeeded', run: 'succeeded' });
    expect(view.log.isClosed).to.equal(true);
  });

  it('leaves no actor at work when it was cancelled by force while nobody looked', async () => {
    const list = JSON.stringify([1, 2, 3]);
    const runs = new ControlledRuns(
      KEPT,
      `{id: held, goal: be held, inputs: {list: ${list}}, tasks: [{id: each, tool: controlled, parallel_over: "{{pipeline.inputs.list}}", inputs: {n: "{{item}}"}}, {id: one, tool: controlled}]}`,
    );
    const runId = await runs.submit();
    await leave(runs, await runs.registry.queries.inspection(runId));
    await runs.registry.cancel(runId, { force: true });
    await runs.registry.settled(runId);
    await runs.waitUntilIdle();
    const states = lastStates(await runs.registry.queries.inspection(runId));
    expect(Object.keys(states)).to.have.length(8);
    expect(Object.values(states)).to.not.include('invoking').and.not.include('fanning out');
    expect(states['run']).to.equal('cancelled');
  });

  it('is shown to its end when it is a plan', async () => {
    const runs = new ControlledPlans(EXTRACT_AND_LOAD, KEPT);
    const runId = await runs.submitPlan();
    await leave(runs, await runs.registry.queries.inspection(runId));
    runs.controlled.calls[0]?.resolve(1);
    await runs.waitUntilIdle();
    await runs.complete(runId);
    expect(lastStates(await runs.registry.queries.inspection(runId))).to.deep.equal({
      plan: 'succeeded',
      'plan/sub-runs': 'stopped',
      'plan/sub-runs/extract': 'succeeded',
      'plan/sub-runs/extract/wave': 'stopped',
      'plan/sub-runs/extract/wave/a': 'succeeded',
      'plan/sub-runs/load': 'succeeded',
      'plan/sub-runs/load/wave': 'stopped',
      'plan/sub-runs/load/wave/b': 'succeeded',
    });
  });
});

describe('The entries of a large fan-out with a failed item', () => {
  const LIST = JSON.stringify(Array.from({ length: 600 }, (_, index) => index));
  const PIPELINE = `{id: held, goal: be held, inputs: {list: ${LIST}}, tasks: [{id: each, tool: controlled, parallel_over: "{{pipeline.inputs.list}}", fan_out_concurrency: 300, inputs: {n: "{{item}}"}}]}`;

  async function failItem277(runs: ControlledRuns, runId: string): Promise<void> {
    const calls = await runs.controlled.started(300);
    calls[277]?.reject(new Error('no luck'));
    await runs.waitUntilIdle();
    for (const call of calls) call.resolve(1);
    await runs.registry.settled(runId);
    await runs.waitUntilIdle();
  }

  it('name the item, and leave no chunk at work when it is recorded', async () => {
    const runs = new ControlledRuns(KEPT, PIPELINE);
    const runId = await runs.submit();
    const view = await runs.registry.queries.inspection(runId);
    await failItem277(runs, runId);
    const chunk = entriesOf(view.log).filter(({ actor }) => actor.endsWith('chunk-1'));
    expect(chunk.map(({ event, state }) => `${event} > ${state}`)).to.deep.equal([
      '@attached > invoking',
      'item.failed > invoking',
      'xstate.stop > stopped',
    ]);
    expect(chunk[1]?.data).to.deep.include({ item: 277 });
    expect(chunk[2]?.snapshot).to.include({ status: 'stopped', failed: 1, settled: 44 });
    expect(chunk[2]?.snapshot).to.have.deep.property('failed_items', [277]);
    expect(lastStates(view)).to.include({ 'run/wave/each/fan-out/chunk-0': 'settled', run: 'failed' });
  });

  it('name the item when nobody looked meanwhile', async () => {
    const runs = new ControlledRuns(KEPT, PIPELINE);
    const runId = await runs.submit();
    await leave(runs, await runs.registry.queries.inspection(runId));
    await failItem277(runs, runId);
    const entries = entriesOf((await runs.registry.queries.inspection(runId)).log);
    const chunk = entries.findLast(({ actor }) => actor.endsWith('chunk-1'));
    expect(chunk?.snapshot).to.deep.equal({
      status: 'stopped',
      value: 'stopped',
      from: 256,
      to: 512,
      settled: 44,
      failed: 1,
      failed_items: [277],
    });
  });
});
