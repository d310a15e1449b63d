import { expect } from 'chai';
import { ControlledRuns } from '../controlled-runs.js';
import { entriesOf, toLines } from './inspections.js';

const FAN_OUT =
  '{id: held, goal: be held, inputs: {list: [1, 2]}, tasks: [{id: a, tool: controlled}, {id: each, tool: controlled, await: [a], parallel_over: "{{pipeline.inputs.list}}", inputs: {n: "{{item}}"}}]}';

describe('The inspection of a settled run that nobody watched (D35)', () => {
  it('is made of its events', async () => {
    const runs = new ControlledRuns({ eventBuffer: 1000 }, FAN_OUT);
    const runId = await runs.submit();
    runs.findCall(runId).resolve(1);
    await runs.waitUntilIdle();
    runs.controlled.calls[1]?.resolve(1);
    runs.controlled.calls[2]?.reject(new Error('no luck'));
    await runs.registry.settled(runId);
    const { log, origin } = await runs.registry.inspection(runId);
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

  it('is empty when no event was kept', async () => {
    const runs = new ControlledRuns();
    const runId = await runs.submit();
    await runs.complete(runId);
    const { log, origin } = await runs.registry.inspection(runId);
    expect({ origin, entries: entriesOf(log) }).to.deep.equal({ origin: 'events', entries: [] });
  });

  it('shows a cancelled run draining until its last event', async () => {
    const runs = new ControlledRuns({ eventBuffer: 1000 });
    const runId = await runs.submit();
    await runs.registry.cancel(runId);
    await runs.complete(runId);
    const { log } = await runs.registry.inspection(runId);
    expect(toLines(entriesOf(log)).slice(-2)).to.deep.equal([
      'run/wave wave.report: settling > idle',
      'run wave.settled: draining > cancelled',
    ]);
  });
});
