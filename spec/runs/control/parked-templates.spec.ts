import { expect } from 'chai';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { holdSlices } from '../../support/slices.js';
import { ControlledRuns } from '../controlled-runs.js';

const ONE_AT_A_TIME = { admission: { maxRunning: 1, maxQueued: 10 } };

const CHAIN = `{id: held, goal: be held, tasks: [
  {id: a, tool: controlled, inputs: {of: "{{params.n}}"}}, {id: b, tool: controlled, inputs: {of: "{{a.output}} again"}}],
  params: {n: {type: integer, default: 1}}}`;

/** A definition of more templates than are compiled in one go. */
const LONG_CHAIN = `{id: long, goal: be long, tasks: [{id: a, tool: controlled},
  {id: b, tool: controlled, inputs: {of: "${Array.from({ length: 1000 }, (_, at) => `{{a.output.f${at} ?? ${at}}}`).join('')}"}}]}`;

async function succeed(runs: ControlledRuns, task: string, value: unknown): Promise<unknown> {
  const call = runs.controlled.calls.findLast(({ context }) => context.task_id === task);
  call?.resolve(value);
  await runs.waitUntilIdle();
  return call?.inputs;
}

describe('The compiled templates of a run that waits (D15)', () => {
  // The run that comes first must get the slot.
  beforeEach(holdSlices);

  it('are dropped while it is queued, unless a run at work shares its pipeline, and compiled when its turn comes', async () => {
    const runs = new ControlledRuns(ONE_AT_A_TIME, CHAIN);
    const waiting = parsePipeline(CHAIN, { tools: [runs.controlled.tool] });
    const shared = await runs.registry.submit({ pipeline: runs.pipeline });
    await runs.registry.submit({ pipeline: runs.pipeline });
    const runId = await runs.registry.submit({ pipeline: waiting, params: { n: 7 } });
    await runs.waitUntilIdle();
    expect(runs.pipeline.templates.isCompiled).to.equal(true);
    expect(waiting.templates.isCompiled).to.equal(false);
    await runs.registry.cancel(shared, { force: true });
    await runs.waitUntilIdle();
    await succeed(runs, 'a', 'x');
    await succeed(runs, 'b', 'y');
    expect(await succeed(runs, 'a', 'first')).to.deep.equal({ of: 7 });
    expect(await succeed(runs, 'b', 'second')).to.deep.equal({ of: 'first again' });
    expect(await runs.registry.settled(runId)).to.include({ status: 'succeeded' });
  });

  for (const [name, text] of Object.entries({ 'a short definition': CHAIN, 'a long one': LONG_CHAIN })) {
    it(`are dropped while it waits at a breakpoint, and compiled when it goes on: ${name}`, async () => {
      const runs = new ControlledRuns({}, text);
      const runId = await runs.registry.submit({ pipeline: runs.pipeline, breakpoints: { before: ['b'] } });
      await runs.waitUntilIdle();
      expect(runs.pipeline.templates.isCompiled).to.equal(true);
      await succeed(runs, 'a', {});
      expect(runs.registry.record(runId)).to.include({ paused: true });
      expect(runs.pipeline.templates.isCompiled).to.equal(false);
      runs.registry.resume(runId, 'continue');
      await runs.waitUntilIdle();
      await succeed(runs, 'b', 'done');
      expect(await runs.registry.settled(runId)).to.include({ status: 'succeeded' });
    });
  }

  it('are compiled for who looks at the values of a run that waits', async () => {
    const runs = new ControlledRuns(ONE_AT_A_TIME, CHAIN);
    const runId = await runs.registry.submit({ pipeline: runs.pipeline, breakpoints: { before: ['b'] } });
    await runs.waitUntilIdle();
    await succeed(runs, 'a', 'x');
    const task = await runs.registry.task(runId, 'a');
    expect(task.inputs).to.deep.equal({ of: 1 });
  });
});
