import { expect } from 'chai';
import { ControlledPlans } from '../controlled-plans.js';
import { ControlledRuns } from '../controlled-runs.js';
import { subPipelineText } from '../../support/definitions/parse-plan.js';
import { entriesOf, KEPT, toLines } from './inspections.js';

const FAN_OUT =
  '{id: held, goal: be held, inputs: {list: [1, 2]}, tasks: [{id: a, tool: controlled}, {id: each, tool: controlled, await: [a], parallel_over: "{{pipeline.inputs.list}}", inputs: {n: "{{item}}"}}]}';

describe('The inspection of a settled run that nobody watched (D35)', () => {
  it('is made of its events', async () => {
    const runs = new ControlledRuns(KEPT, FAN_OUT);
    const runId = await runs.submit();
    await runs.resolveCall(runId, 1);
    runs.controlled.calls[1]?.resolve(1);
    runs.controlled.calls[2]?.reject(new Error('no luck'));
    await runs.registry.settled(runId);
    const { log, origin } = await runs.registry.queries.inspection(runId);
    expect(origin).to.equal('events');
    expect(log.isClosed).to.equal(true);
    expect(toLines(entriesOf(log))).to.deep.equal([
      'run @created:  > queued',
      'run begin: queued > running',
      'run/wave wave.begin:  > settling',
      'run/wave/a @created:  > invoking',
      'run/wave/a task.settled: invoking > succeeded',
      'run/wave wave.report: settling > idle',
      'run/wave wave.begin: idle > settling',
      'run/wave/each @created:  > fanning out',
      'run/wave/each/fan-out @created:  > invoking',
      'run/wave/each/fan-out/0 item.settled:  > succeeded',
      'run/wave/each/fan-out/1 item.settled:  > failed',
      'run/wave/each/fan-out fan-out.settled: invoking > failed',
      'run/wave/each task.settled: fanning out > failed',
      'run/wave wave.report: settling > idle',
      'run wave.settled: running > failed',
    ]);
  });

  it('names the actors that must have sent the events, and none for what comes from callers and tools', async () => {
    const runs = new ControlledRuns(KEPT, FAN_OUT);
    const runId = await runs.submit();
    await runs.resolveCall(runId, 1);
    for (const call of runs.controlled.calls.slice(1)) call.resolve(1);
    await runs.registry.settled(runId);
    const { log } = await runs.registry.queries.inspection(runId);
    const senders = entriesOf(log).map(({ source, actor, event }) => `${source} > ${actor} ${event}`);
    expect(senders.filter((line) => !line.startsWith('null'))).to.deep.equal([
      'run > run/wave wave.begin',
      'run/wave > run/wave/a @created',
      'run > run/wave wave.begin',
      'run/wave > run/wave/each @created',
      'run/wave/each > run/wave/each/fan-out @created',
      'run/wave > run wave.settled',
    ]);
  });

  it('shows a run that was continued, without saying by which command, which its events do not', async () => {
    const runs = new ControlledRuns(KEPT, FAN_OUT);
    const { pipeline, registry } = runs;
    const runId = await registry.submit({ pipeline, breakpoints: { before: ['a'] } });
    await runs.waitUntilIdle();
    registry.resume(runId, 'step');
    await runs.waitUntilIdle();
    await runs.resolveCall(runId, 1);
    registry.resume(runId, 'continue');
    await runs.waitUntilIdle();
    for (const call of runs.controlled.calls.slice(1)) call.resolve(1);
    await registry.settled(runId);
    const { log } = await runs.registry.queries.inspection(runId);
    expect(
      toLines(entriesOf(log)).filter((line) => line.startsWith('run ') && line.includes('paused')),
    ).to.deep.equal([
      'run begin: queued > paused',
      'run @resumed: paused > running',
      'run wave.settled: running > paused',
      'run @resumed: paused > running',
    ]);
  });

  it('leaves a plan running whose sub-runs pause, as its machine does', async () => {
    const runs = new ControlledPlans([subPipelineText('s', '{id: a, tool: controlled}')], KEPT);
    const { registry } = runs;
    const runId = await runs.submitPlan({ breakpoints: { before: ['s/a'] } });
    expect(registry.record(runId).paused).to.equal(true);
    registry.resume(runId, 'continue');
    await runs.waitUntilIdle();
    await runs.complete(runId);
    const { log } = await registry.queries.inspection(runId);
    expect(toLines(entriesOf(log)).filter((line) => /^plan(\/sub-runs\/s)? /.test(line))).to.deep.equal([
      'plan @created:  > queued',
      'plan begin: queued > running',
      'plan/sub-runs/s @created:  > queued',
      'plan/sub-runs/s begin: queued > paused',
      'plan/sub-runs/s @resumed: paused > running',
      'plan/sub-runs/s wave.settled: running > succeeded',
      'plan sub-runs.settled: running > succeeded',
    ]);
  });

  it('is empty when no event was kept', async () => {
    const runs = new ControlledRuns();
    const runId = await runs.submitAndComplete();
    const { log, origin } = await runs.registry.queries.inspection(runId);
    expect({ origin, entries: entriesOf(log) }).to.deep.equal({ origin: 'events', entries: [] });
  });

  it('shows a cancelled run draining until its last event', async () => {
    const runs = new ControlledRuns(KEPT);
    const runId = await runs.submit();
    await runs.registry.cancel(runId);
    await runs.complete(runId);
    const { log } = await runs.registry.queries.inspection(runId);
    expect(toLines(entriesOf(log)).slice(-2)).to.deep.equal([
      'run/wave wave.report: settling > idle',
      'run wave.settled: draining > cancelled',
    ]);
  });
});
