import { expect } from 'chai';
import { MemoryBlackboard } from '../../../lib/execution/session/memory-blackboard.js';
import { TaskFailedError } from '../../../lib/common/errors.js';
import { subPipelineText } from '../../support/definitions/parse-plan.js';
import { catchRejection } from '../../support/rejection.js';
import { controlledTask, TestPlanRun, startPlan, storeTask } from '../../support/runs/start-plan.js';

/** b reads what a stores, c what b stores. */
const CHAIN = [
  subPipelineText('c', controlledTask('c'), 'reads: [kb]'),
  subPipelineText('b', `${controlledTask('b')}, ${storeTask('kb', '2')}`, 'reads: [ka], stores: [kb]'),
  subPipelineText('a', `${controlledTask('a')}, ${storeTask('ka', '1')}`, 'stores: [ka]'),
];

const FREE = ['a', 'b', 'c'].map((id) => subPipelineText(id, controlledTask(id)));

describe('PlanRun (Plan)', () => {
  it('runs up to plan_concurrency sub-pipelines together (D45)', async () => {
    const plan = await startPlan(FREE, { head: 'plan_concurrency: 2,' });
    expect(plan.order).to.deep.equal(['a/t', 'b/t']);
    await plan.returns('b/t');
    expect(plan.order).to.deep.equal(['a/t', 'b/t', 'c/t']);
    await plan.returns('c/t');
    await plan.returns('a/t');
    expect(plan.record().status).to.equal('succeeded');
  });

  it('prefers the plan_concurrency of the run to that of the plan', async () => {
    const plan = await startPlan(FREE, { head: 'plan_concurrency: 2,', plan_concurrency: 3 });
    expect(plan.order).to.have.length(3);
  });

  it('names the sub-pipeline that failed it, and not one whose errors were collected (D16, D67)', async () => {
    const fanOut = 'on_item_error: collect, parallel_over: "{{pipeline.inputs.list}}",';
    const collecting = `{id: t, tool: controlled, ${fanOut} inputs: {of: a, x: "{{item}}"}}`;
    const plan = await startPlan(
      [
        subPipelineText('a', collecting, 'inputs: [list]', 'inputs: {list: [1, 2]},'),
        subPipelineText('b', controlledTask('b')),
      ],
      { inputs: { list: [1, 2] } },
    );
    const [first, second] = plan.controlled.calls;
    await plan.controlled.rejects(new Error('collected'), first);
    await plan.controlled.returns('fine', second);
    await plan.rejects('b/t', 'fatal');
    const { error, failures, sub_pipelines } = plan.record();
    expect(sub_pipelines).to.deep.equal({ a: 'succeeded', b: 'failed' });
    expect(error).to.equal('sub-pipeline "b", task "t": fatal');
    expect(failures[0]).to.deep.include({ sub_pipeline: 'a', item: 0, collected: true });
  });

  it('emits its events in order, and each status once (D29, D47)', async () => {
    const plan = new TestPlanRun(FREE.slice(0, 2));
    plan.run.emitStatus();
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

  it('returns results, totals and events by sub-pipeline, in declaration order (D47)', async () => {
    const plan = await startPlan(CHAIN, { collect_events: true });
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

  it('collects no events by default', async () => {
    const plan = await startPlan(FREE.slice(0, 1));
    await plan.returns('a/t');
    const { events, sub_results } = await plan.executor.getPlanResult(plan.run.id);
    expect({ events, ofA: sub_results['a']?.events }).to.deep.equal({ events: null, ofA: null });
  });

  it('fails with a failed sub-pipeline, names it, and begins no other (D47)', async () => {
    const plan = await startPlan(CHAIN);
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
    const error = await catchRejection(plan.executor.getPlanResult(plan.run.id));
    expect(error).to.be.instanceOf(TaskFailedError);
    expect(error).to.include({ code: 'task_failed', task_id: 't', error: 'boom' });
    expect(error).to.have.property('message', 'sub-pipeline "b", task "t" failed: boom');
  });

  it('is stopped with its tools when it is forgotten while active', async () => {
    const plan = await startPlan(FREE, { plan_concurrency: 2 });
    const waiting = catchRejection(plan.executor.getPlanResult(plan.run.id));
    const signals = plan.controlled.calls.map(({ context }) => context.signal);
    plan.executor.forget(plan.run.id);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true, true]);
    expect(await waiting).to.include({ code: 'run_not_found' });
    await plan.returns('a/t');
    expect(plan.order).to.have.length(2);
    expect(plan.clock.pending).to.equal(0);
  });

  it('shares one memory budget among all sub-pipelines', async () => {
    const executor = { runOutputLimitBytes: 6000 };
    const plan = await startPlan(FREE.slice(0, 2), { executor });
    await plan.returns('a/t', 'x'.repeat(2000));
    expect(plan.run.budget.usedBytes).to.be.above(2000);
    await plan.returns('b/t', 'y'.repeat(2000));
    expect(plan.record().error).to.match(/^sub-pipeline "b", task "t": the run takes more memory/);
  });

  it('shares one limit on nested runs among all sub-pipelines (D49)', async () => {
    const call =
      '{id: c, tool: run_pipeline, inputs: {pipeline: {id: leaf, goal: g, tasks: [{id: t, tool: controlled}]}}}';
    const plan = await startPlan([subPipelineText('a', call), subPipelineText('b', call)], {
      plan_concurrency: 2,
    });
    expect(plan.run.subRuns.nestedRunLimiter.active).to.equal(2);
    for (const heldCall of plan.controlled.calls) await plan.controlled.returns(null, heldCall);
    expect(plan.run.subRuns.nestedRunLimiter.active).to.equal(0);
    expect(plan.run.status).to.equal('succeeded');
  });

  it('measures its outputs and the final blackboard', async () => {
    const blackboard = new MemoryBlackboard();
    await blackboard.write('default', 'earlier', 'x'.repeat(50_000));
    const plan = await startPlan(FREE.slice(0, 1), { executor: { blackboard } });
    const { usedBytes } = plan.run.budget;
    await plan.returns('a/t', 'y'.repeat(20_000));
    expect(plan.run.budget.usedBytes - usedBytes).to.be.within(67_000, 70_000);
  });

  it('reads and writes the blackboard of its own tenant only', async () => {
    const blackboard = new MemoryBlackboard();
    await blackboard.write('other', 'theirs', 1);
    await blackboard.write('acme', 'ours', 2);
    const plan = await startPlan([subPipelineText('a', storeTask('ka', '1'), 'stores: [ka]')], {
      executor: { blackboard },
      tenant_id: 'acme',
    });
    expect({ ...plan.record().result?.blackboard }).to.deep.equal({ ours: 2, ka: 1 });
    expect({ ...(await blackboard.getAll('acme')) }).to.deep.equal({ ours: 2, ka: 1 });
  });
});
