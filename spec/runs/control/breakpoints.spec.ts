import { expect } from 'chai';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import type { Breakpoints } from '../../../lib/execution/prepare/run-inputs.js';
import type { RegistryOptions } from '../../../lib/runs/registry-options.js';
import { settle } from '../../support/deferred.js';
import { subPipelineText } from '../../support/definitions/parse-plan.js';
import { catchRejection } from '../../support/rejection.js';
import { createDisk, MemoryStore } from '../store/memory/memory-store.js';
import { ControlledPlans } from '../controlled-plans.js';
import { ControlledRuns } from '../controlled-runs.js';

const THREE_WAVES = `{id: held, goal: be held, tasks: [
  {id: a, tool: controlled}, {id: b, tool: controlled, await: [a]}, {id: c, tool: controlled, await: [b]}]}`;

const taskIn = (id: string): string => `{id: t, tool: controlled, inputs: {of: ${id}}}`;

interface PausedRun {
  readonly runs: ControlledRuns;
  readonly runId: string;
  readonly events: readonly LiveEvent[];
}

async function start(breakpoints: Breakpoints, options: RegistryOptions = {}): Promise<PausedRun> {
  const runs = new ControlledRuns(options, THREE_WAVES);
  const events: LiveEvent[] = [];
  const onEvent = (event: LiveEvent): void => void events.push(event);
  const runId = await runs.registry.submit({ pipeline: runs.pipeline, breakpoints }, { onEvent });
  await runs.waitUntilIdle();
  return { runs, runId, events };
}

async function succeedTask({ runs }: PausedRun, task: string): Promise<void> {
  runs.controlled.calls.findLast(({ context }) => context.task_id === task)?.resolve(task);
  await runs.waitUntilIdle();
}

describe('a run with breakpoints (D42)', () => {
  it('pauses before the wave of a named task, as its record and its events say, and goes on', async () => {
    const run = await start({ before: ['b'] });
    const { registry } = run.runs;
    expect(registry.record(run.runId)).to.include({ status: 'running', paused: false });
    const before = registry.queries.version(run.runId);
    await succeedTask(run, 'a');
    expect(registry.record(run.runId)).to.include({ status: 'running', paused: true, settled: false });
    expect(registry.queries.version(run.runId)).to.not.equal(before);
    expect(run.runs.controlled.calls).to.have.length(1);
    expect(registry.resume(run.runId, 'continue')).to.include({ status: 'running', paused: false });
    await succeedTask(run, 'b');
    await succeedTask(run, 'c');
    expect(await registry.settled(run.runId)).to.include({ status: 'succeeded', paused: false });
    const states = run.events.flatMap((event) => {
      if (event.kind === 'wave') return [`wave ${event.wave} ${event.phase}`];
      return event.kind === 'run' ? [`${event.status}${event.paused ? ', paused' : ''}`] : [];
    });
    expect(states).to.deep.equal([
      'queued',
      'running',
      'wave 0 start',
      'wave 0 finish',
      'running, paused',
      'running',
      'wave 1 start',
      'wave 1 finish',
      'wave 2 start',
      'wave 2 finish',
      'succeeded',
    ]);
  });

  it('refuses a value of on_failure that is no boolean, which a caller of the library may send (D42)', async () => {
    const failed = await start({ on_failure: 'yes' as never }).catch((error: unknown) => error);
    expect(failed)
      .to.be.instanceOf(Error)
      .with.property('message')
      .that.includes('"on_failure" must be true or false');
  });

  it('pauses on a failure, with what the task failed of, and then fails', async () => {
    const run = await start({ on_failure: true });
    run.runs.controlled.calls[0]?.reject(new Error('boom'));
    await run.runs.waitUntilIdle();
    const { registry } = run.runs;
    expect(registry.record(run.runId)).to.include({ status: 'running', paused: true });
    expect((await registry.task(run.runId, 'a')).error).to.include({ message: 'boom' });
    registry.resume(run.runId, 'continue');
    expect(await registry.settled(run.runId)).to.include({ status: 'failed', error: 'boom' });
  });

  it('refuses to go on when it is not paused', async () => {
    const run = await start({ before: ['b'] });
    expect(() => run.runs.registry.resume(run.runId, 'continue'))
      .to.throw('does not wait at a breakpoint')
      .with.property('code', 'run_not_paused');
    expect(() => run.runs.registry.resume('none', 'step'))
      .to.throw()
      .with.property('code', 'run_not_found');
  });

  it('keeps its place among the running ones while it pauses, and gives it back when it is cancelled', async () => {
    const admission = { maxRunning: 1, maxQueued: 10, tenantShare: 100 };
    const run = await start({ before: ['a'] }, { admission });
    const { registry, pipeline } = run.runs;
    const second = await registry.submit({ pipeline });
    await run.runs.waitUntilIdle();
    expect(registry.queries.load).to.deep.equal({ queued: 1, running: 1 });
    expect(await registry.cancel(run.runId)).to.include({ status: 'cancelled', settled: true });
    await run.runs.waitUntilIdle();
    expect(registry.record(second)).to.include({ status: 'running' });
  });

  it('is cancelled when it has paused for longer than the setting, and not after it went on', async () => {
    const run = await start({ before: ['a', 'b'] }, { pauseTimeoutMs: 1000 });
    const { registry } = run.runs;
    run.runs.clock.advance(999);
    registry.resume(run.runId, 'continue');
    await run.runs.waitUntilIdle();
    run.runs.clock.advance(5000);
    await succeedTask(run, 'a');
    expect(registry.record(run.runId)).to.include({ status: 'running', paused: true });
    run.runs.clock.advance(1000);
    await settle();
    expect(registry.record(run.runId)).to.include({ status: 'cancelled', settled: true });
  });

  it('leaves no timer behind when it is forgotten while it pauses, so that the process can end', async () => {
    const run = await start({ before: ['a'] }, { pauseTimeoutMs: 1000 });
    expect(run.runs.clock.pending).to.equal(1);
    run.runs.registry.forget(run.runId);
    expect(run.runs.clock.pending).to.equal(0);
    run.runs.clock.advance(1000);
    await settle();
    const paused = run.events.map((event) => ('paused' in event ? event.paused : undefined));
    expect(paused.at(-1)).to.equal(true);
  });

  it('leaves no timer behind when a server with a store ends while it pauses', async () => {
    const store = new MemoryStore(createDisk());
    const run = await start({ before: ['a'] }, { pauseTimeoutMs: 1000, store });
    expect(run.runs.clock.pending).to.be.at.least(1);
    await run.runs.registry.close(0);
    expect(run.runs.clock.pending).to.equal(0);
  });

  for (const force of [false, true]) {
    const how = force ? 'aborted' : 'cancelled';
    it(`settles and leaves no timer behind when it is ${how} while it pauses`, async () => {
      const run = await start({ before: ['b'] }, { pauseTimeoutMs: 1000 });
      await succeedTask(run, 'a');
      const { registry } = run.runs;
      expect(registry.record(run.runId)).to.include({ paused: true });
      const settled = registry.settled(run.runId);
      await registry.cancel(run.runId, { force });
      expect(await settled).to.include({ status: 'cancelled', settled: true, paused: false });
      expect(run.runs.clock.pending).to.equal(0);
    });
  }

  const mistakes: [string, Breakpoints, string][] = [
    ['a task that there is not', { before: ['bb'] }, 'pipeline "held" has no task "bb"'],
    [
      'no list',
      { before: 'b' as unknown as string[] },
      '"before" must be a list of ids of tasks, not a string',
    ],
    ['a number', { before: [1 as unknown as string] }, '"before" must list ids of tasks, not a number'],
    ['more than 100 tasks', { before: Array.from({ length: 101 }, () => 'a') }, 'the limit is 100'],
  ];
  for (const [title, breakpoints, words] of mistakes) {
    it(`is refused with ${title}`, async () => {
      const error = await catchRejection(start(breakpoints));
      expect(error).to.have.property('code', 'invalid_options');
      expect(error).to.have.property('message').that.includes(words);
    });
  }

  it('of a plan pauses each sub-pipeline before the wave of its task, and all of them go on together', async () => {
    const plans = new ControlledPlans(['one', 'two'].map((id) => subPipelineText(id, taskIn(id))));
    const before = ['one/t', 'two/t'];
    const events: LiveEvent[] = [];
    const runId = await plans.submitPlan(
      { plan_concurrency: 2, breakpoints: { before } },
      { onEvent: (event) => void events.push(event) },
    );
    expect(plans.registry.record(runId)).to.include({ status: 'running', paused: true });
    expect(plans.callNames).to.deep.equal([]);
    plans.registry.resume(runId, 'continue');
    await plans.waitUntilIdle();
    expect(plans.registry.record(runId)).to.include({ paused: false });
    expect(plans.callNames).to.deep.equal(['one/t', 'two/t']);
    const paused = events.filter((event) => 'paused' in event).map(({ kind }) => kind);
    expect(paused).to.deep.equal(['sub_pipeline', 'run', 'sub_pipeline']);
  });

  for (const force of [false, true]) {
    const how = force ? 'aborted' : 'cancelled';
    it(`of a plan settles and leaves no timer behind when it is ${how} while its sub-pipelines pause`, async () => {
      const plans = new ControlledPlans(
        ['one', 'two', 'three'].map((id) => subPipelineText(id, taskIn(id))),
        { pauseTimeoutMs: 1000 },
      );
      const runId = await plans.submitPlan({
        plan_concurrency: 2,
        breakpoints: { before: ['one/t', 'two/t'] },
      });
      const { registry } = plans;
      expect(registry.record(runId)).to.include({ paused: true });
      const settled = registry.settled(runId);
      await registry.cancel(runId, { force });
      await plans.waitUntilIdle();
      expect(registry.record(runId)).to.include({ status: 'cancelled', settled: true, paused: false });
      await settled;
      expect(plans.clock.pending).to.equal(0);
    });
  }

  it('of a plan is refused with a task that it does not have', async () => {
    const plans = new ControlledPlans([subPipelineText('one', taskIn('one'))]);
    for (const [before, words] of [
      ['t', '"t" is no task of a plan: name it as SUB_PIPELINE/TASK'],
      ['on/t', 'the plan has no sub-pipeline "on" (did you mean "one"?)'],
      ['one/x', 'sub-pipeline "one" has no task "x"'],
    ] as const) {
      const error = await catchRejection(plans.submitPlan({ breakpoints: { before: [before] } }));
      expect(error).to.have.property('message').that.includes(words);
    }
  });
});
