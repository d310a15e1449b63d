import { expect } from 'chai';
import { subPipelineText } from '../../support/definitions/parse-plan.js';
import { settle } from '../../support/deferred.js';
import { controlledTask, startPlan, type TestPlanRun } from '../../support/runs/start-plan.js';

async function advance(plan: TestPlanRun, ms: number): Promise<void> {
  plan.clock.advance(ms);
  await settle();
}

describe('The timeout of a plan (D81)', () => {
  const of = (id: string, ofPipeline = ''): string => subPipelineText(id, controlledTask(id), '', ofPipeline);

  it('aborts the sub-pipelines at work, begins no other and fails as run_timeout', async () => {
    const plan = await startPlan([of('a'), of('b'), of('c')], { head: 'timeout: 5s, plan_concurrency: 2,' });
    await advance(plan, 5000);
    expect(plan.order).to.deep.equal(['a/t', 'b/t']);
    expect(plan.controlled.calls.every(({ context }) => context.signal.aborted)).to.equal(true);
    expect(plan.record()).to.deep.include({
      status: 'failed',
      error: 'the run took longer than its timeout of 5s',
      error_code: 'run_timeout',
      failed_task: null,
      sub_pipelines: { a: 'cancelled', b: 'cancelled', c: null },
    });
    expect(plan.clock.pending).to.equal(0);
  });

  it('of a sub-pipeline fails it alone: others finish, and the plan names it', async () => {
    const plan = await startPlan([of('a', 'timeout: 5s,'), of('b'), of('c')], {
      head: 'plan_concurrency: 2,',
    });
    await advance(plan, 5000);
    expect(plan.record().sub_pipelines).to.deep.equal({ a: 'failed', b: 'running', c: null });
    await plan.returns('b/t');
    expect(plan.record()).to.deep.include({
      status: 'failed',
      error: 'sub-pipeline "a": the run took longer than its timeout of 5s',
      error_code: 'run_timeout',
      failed_task: null,
      sub_pipelines: { a: 'failed', b: 'succeeded', c: null },
    });
  });

  it('of a sub-pipeline is not the error when a task of another one had failed before', async () => {
    const plan = await startPlan([of('a', 'timeout: 5s,'), of('b')], { head: 'plan_concurrency: 2,' });
    await plan.rejects('b/t', 'broke');
    await advance(plan, 5000);
    expect(plan.record()).to.deep.include({
      error: 'sub-pipeline "b", task "t": broke',
      error_code: null,
      failed_task: { sub_pipeline: 'b', task_id: 't' },
    });
  });
});
