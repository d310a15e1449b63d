import { expect } from 'chai';
import { MemoryBlackboard } from '../../../lib/blackboard/memory.js';
import { TaskFailedError } from '../../../lib/common/errors.js';
import { sub } from '../../support/definitions/plan-of.js';
import { rejectionOf } from '../../support/rejection.js';
import { held, RunningPlan, runningPlan, stores } from '../../support/runs/running-plan.js';

/** b reads what a stores, c what b stores. */
const CHAIN = [
  sub('c', held('c'), 'reads: [kb]'),
  sub('b', `${held('b')}, ${stores('kb', '2')}`, 'reads: [ka], stores: [kb]'),
  sub('a', `${held('a')}, ${stores('ka', '1')}`, 'stores: [ka]'),
];

const FREE = ['a', 'b', 'c'].map((id) => sub(id, held(id)));

describe('the run of a plan (Plan)', () => {
  it('runs a sub-pipeline after those that store what it reads, whatever was declared first (Plan, rule 1)', async () => {
    const plan = await runningPlan(CHAIN);
    expect(plan.order).to.deep.equal(['a/t']);
    await plan.returns('a/t');
    expect(plan.order).to.deep.equal(['a/t', 'b/t']);
    await plan.returns('b/t');
    await plan.returns('c/t');
    expect(plan.order).to.deep.equal(['a/t', 'b/t', 'c/t']);
    expect(plan.record()).to.deep.include({ status: 'succeeded', settled: true, kind: 'plan' });
  });

  it('runs independent sub-pipelines one after another in declared order (D45)', async () => {
    const plan = await runningPlan(FREE);
    for (const id of ['a', 'b', 'c']) {
      expect(plan.order.at(-1)).to.equal(`${id}/t`);
      await plan.returns(`${id}/t`);
    }
    expect(plan.record().status).to.equal('succeeded');
  });

  it('runs as many together as plan_concurrency says, and one that waits as soon as one is over (D45)', async () => {
    const plan = await runningPlan(FREE, { head: 'plan_concurrency: 2,' });
    expect(plan.order).to.deep.equal(['a/t', 'b/t']);
    await plan.returns('b/t');
    expect(plan.order).to.deep.equal(['a/t', 'b/t', 'c/t']);
    await plan.returns('c/t');
    await plan.returns('a/t');
    expect(plan.record().status).to.equal('succeeded');
  });

  it('takes the plan_concurrency of the run before that of the plan', async () => {
    const plan = await runningPlan(FREE, { head: 'plan_concurrency: 2,', plan_concurrency: 3 });
    expect(plan.order).to.have.length(3);
  });

  it('tells what happens in order, each status once (D29, D47)', async () => {
    const plan = new RunningPlan(FREE.slice(0, 2));
    plan.run.announce();
    await plan.begin();
    await plan.returns('a/t');
    await plan.returns('b/t');
    expect(plan.statuses).to.deep.equal([
      'queued',
      'running',
      'a queued',
      'a running',
      'a succeeded',
      'b queued',
      'b running',
      'b succeeded',
      'succeeded',
    ]);
    expect(plan.events.map(({ seq }) => seq)).to.deep.equal(plan.events.map((_, index) => index + 1));
    expect(new Set(plan.events.map(({ run_id }) => run_id))).to.deep.equal(new Set([plan.run.id]));
    const ofTasks = plan.events.filter(({ kind }) => kind === 'start' || kind === 'finish');
    expect(
      ofTasks.map((event) => `${event.kind} ${'sub_pipeline' in event ? event.sub_pipeline : '?'}`),
    ).to.deep.equal(['start a', 'finish a', 'start b', 'finish b']);
  });

  it('gives result, totals and events by sub-pipeline, in declared order (D47)', async () => {
    const plan = await runningPlan(CHAIN, { collect_events: true });
    for (const id of ['a', 'b', 'c']) await plan.returns(`${id}/t`, id);
    const result = await plan.executor.getPlanResult(plan.run.id);
    expect(Object.keys(result)).to.deep.equal([
      'plan_id',
      'sub_results',
      'blackboard',
      'total_tasks_executed',
      'total_waves',
      'events',
    ]);
    expect(result.plan_id).to.equal('plan');
    expect(Object.keys(result.sub_results)).to.deep.equal(['c', 'b', 'a']);
    const { events, ...ofB } = result.sub_results['b'] ?? {};
    expect(ofB).to.deep.equal({ outputs: { t: 'b', s: 2 }, waves_executed: 1, tasks_executed: 2 });
    expect(events?.map(({ kind, task_id }) => `${kind} ${task_id}`).sort()).to.deep.equal([
      'finish s',
      'finish t',
      'start s',
      'start t',
    ]);
    expect({ ...result.blackboard }).to.deep.equal({ ka: 1, kb: 2 });
    expect(result).to.deep.include({ total_tasks_executed: 5, total_waves: 3 });
    expect(result.events).to.have.length(10);
    expect(plan.record().progress).to.deep.equal({
      waves: 3,
      waves_executed: 3,
      tasks: 5,
      tasks_settled: 5,
      invocations: 5,
      sub_pipelines: 3,
      sub_pipelines_settled: 3,
    });
  });

  it('collects no events unless asked', async () => {
    const plan = await runningPlan(FREE.slice(0, 1));
    await plan.returns('a/t');
    const { events, sub_results } = await plan.executor.getPlanResult(plan.run.id);
    expect({ events, ofA: sub_results['a']?.events }).to.deep.equal({ events: null, ofA: null });
  });

  it('fails with a failed sub-pipeline, names it, and begins no further one (D47)', async () => {
    const plan = await runningPlan(CHAIN);
    await plan.returns('a/t');
    await plan.rejects('b/t', 'boom');
    expect(plan.order).to.deep.equal(['a/t', 'b/t']);
    expect(plan.record()).to.deep.include({
      status: 'failed',
      settled: true,
      result: null,
      error: 'sub-pipeline "b", task "t": boom',
      failures: [{ sub_pipeline: 'b', task_id: 't', error: 'boom', attempts: 1 }],
    });
    expect(plan.statuses.slice(-2)).to.deep.equal(['b failed', 'failed']);
    const error = await rejectionOf(plan.executor.getPlanResult(plan.run.id));
    expect(error).to.be.instanceOf(TaskFailedError);
    expect(error).to.include({ code: 'task_failed', task_id: 't', error: 'boom' });
    expect(error).to.have.property('message', 'sub-pipeline "b", task "t" failed: boom');
  });

  it('lets those at work come to their end when one fails, and begins none (plan_concurrency > 1)', async () => {
    const two = sub('b', `${held('b')}, ${held('b', 'u', 'await: [t],')}`);
    const plan = await runningPlan([sub('a', held('a')), two, sub('c', held('c'))], { plan_concurrency: 2 });
    await plan.rejects('a/t', 'boom');
    expect(plan.record()).to.deep.include({ status: 'running', settled: false });
    await plan.returns('b/t');
    expect(plan.order).to.deep.equal(['a/t', 'b/t', 'b/u']);
    await plan.rejects('b/u', 'later');
    expect(plan.record()).to.deep.include({ status: 'failed', settled: true });
    expect(plan.record().error).to.equal('sub-pipeline "a", task "t": boom');
    expect(plan.record().failures.map(({ sub_pipeline }) => sub_pipeline)).to.deep.equal(['a', 'b']);
    expect(plan.order).to.have.length(3);
  });

  it('depends on nobody who listens', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warn);
    const plan = await runningPlan(FREE.slice(0, 1), {
      onEvent: () => {
        throw new Error('deaf');
      },
    });
    await plan.returns('a/t');
    process.off('warning', warn);
    expect(plan.record().status).to.equal('succeeded');
    expect(warnings).to.have.length(1);
  });

  it('is stopped with its tools when it is forgotten at work', async () => {
    const plan = await runningPlan(FREE, { plan_concurrency: 2 });
    const waiting = rejectionOf(plan.executor.getPlanResult(plan.run.id));
    const signals = plan.puppet.calls.map(({ context }) => context.signal);
    plan.executor.forget(plan.run.id);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true, true]);
    expect(await waiting).to.include({ code: 'run_not_found' });
    await plan.returns('a/t');
    expect(plan.order).to.have.length(2);
    expect(plan.clock.pending).to.equal(0);
  });

  it('shares one limit of outputs among all sub-pipelines', async () => {
    const executor = { runOutputLimitBytes: 3000 };
    const plan = await runningPlan(FREE.slice(0, 2), { executor });
    await plan.returns('a/t', 'x'.repeat(2000));
    const { weight } = plan.run;
    expect(weight).to.be.above(2000);
    await plan.returns('b/t', 'y'.repeat(2000));
    expect(plan.record().error).to.match(/^sub-pipeline "b", task "t": the outputs of the run are together/);
  });

  it('weighs what it keeps: outputs, and all that stood on the blackboard at the end', async () => {
    const blackboard = new MemoryBlackboard();
    await blackboard.write('default', 'earlier', 'x'.repeat(50_000));
    const plan = await runningPlan(FREE.slice(0, 1), { executor: { blackboard } });
    const { weight } = plan.run;
    await plan.returns('a/t', 'y'.repeat(20_000));
    expect(plan.run.weight - weight).to.be.within(70_000, 72_000);
  });

  it('reads the blackboard of its tenant only, and leaves there what it stored', async () => {
    const blackboard = new MemoryBlackboard();
    await blackboard.write('other', 'theirs', 1);
    await blackboard.write('acme', 'ours', 2);
    const plan = await runningPlan([sub('a', stores('ka', '1'), 'stores: [ka]')], {
      executor: { blackboard },
      tenant_id: 'acme',
    });
    expect({ ...plan.record().result?.blackboard }).to.deep.equal({ ours: 2, ka: 1 });
    expect({ ...(await blackboard.get_all('acme')) }).to.deep.equal({ ours: 2, ka: 1 });
  });
});
