import { expect } from 'chai';
import { subPipelineText } from '../support/definitions/parse-plan.js';
import { controlledTask } from '../support/runs/start-plan.js';
import { TracedPlans } from './traced-runs.js';

const TWO = ['a', 'b'].map((id) => subPipelineText(id, controlledTask(id)));

describe('Traces of plans (D35)', () => {
  it('are nested as run, sub-pipeline, wave, task and attempt', async () => {
    const plans = new TracedPlans(TWO);
    await plans.held.submitPlan({ tenant_id: 'acme' });
    await plans.advance(10);
    await plans.held.completeTask('a/t');
    await plans.advance(5);
    await plans.held.completeTask('b/t');
    expect(plans.lines).to.deep.equal([
      'run plan > sub-pipeline a > wave 0 > task t > attempt 1 0-10',
      'run plan > sub-pipeline a > wave 0 > task t 0-10',
      'run plan > sub-pipeline a > wave 0 0-10',
      'run plan > sub-pipeline a 0-10',
      'run plan > sub-pipeline b > wave 0 > task t > attempt 1 10-15',
      'run plan > sub-pipeline b > wave 0 > task t 10-15',
      'run plan > sub-pipeline b > wave 0 10-15',
      'run plan > sub-pipeline b 10-15',
      'run plan 0-15',
    ]);
    expect(plans.named('sub-pipeline a').attributes).to.deep.equal({
      'wavetrain.sub_pipeline.id': 'a',
      'wavetrain.sub_pipeline.status': 'succeeded',
    });
    expect(plans.named('run plan').attributes).to.include({
      'wavetrain.pipeline.id': 'plan',
      'wavetrain.run.status': 'succeeded',
    });
    expect({ runs: plans.tracer.size, open: plans.spans.open }).to.deep.equal({ runs: 0, open: 0 });
  });

  it('keep concurrent sub-pipelines apart, even if their tasks have the same ids', async () => {
    const plans = new TracedPlans(TWO);
    await plans.held.submitPlan({ plan_concurrency: 2 });
    await plans.advance(10);
    await plans.held.completeTask('b/t');
    await plans.advance(5);
    await plans.held.completeTask('a/t');
    expect(plans.lines).to.deep.equal([
      'run plan > sub-pipeline b > wave 0 > task t > attempt 1 0-10',
      'run plan > sub-pipeline b > wave 0 > task t 0-10',
      'run plan > sub-pipeline b > wave 0 0-10',
      'run plan > sub-pipeline b 0-10',
      'run plan > sub-pipeline a > wave 0 > task t > attempt 1 0-15',
      'run plan > sub-pipeline a > wave 0 > task t 0-15',
      'run plan > sub-pipeline a > wave 0 0-15',
      'run plan > sub-pipeline a 0-15',
      'run plan 0-15',
    ]);
  });

  it('record the error of a failed plan in every span that it affects', async () => {
    const plans = new TracedPlans(TWO);
    await plans.held.submitPlan();
    await plans.held.failTask('a/t', 'no luck');
    expect(plans.lines).to.deep.equal([
      'run plan > sub-pipeline a > wave 0 > task t > attempt 1 0-0 ! no luck',
      'run plan > sub-pipeline a > wave 0 > task t 0-0 ! no luck',
      'run plan > sub-pipeline a > wave 0 0-0',
      'run plan > sub-pipeline a 0-0 ! no luck',
      'run plan 0-0 ! sub-pipeline "a", task "t": no luck',
    ]);
  });

  it('end with the last wave of a cancelled plan (D21)', async () => {
    const plans = new TracedPlans(TWO);
    const run = await plans.held.submitPlan({ plan_concurrency: 2 });
    await plans.held.registry.cancel(run);
    await plans.advance(10);
    await plans.held.completeTask('a/t');
    expect(plans.lines.at(-1)).to.equal('? > sub-pipeline a 0-10');
    expect(plans.tracer.size).to.equal(1);
    await plans.advance(10);
    await plans.held.completeTask('b/t');
    expect(plans.lines.slice(-2)).to.deep.equal(['run plan > sub-pipeline b 0-20', 'run plan 0-20']);
    expect(plans.named('sub-pipeline b').attributes).to.include({
      'wavetrain.sub_pipeline.status': 'cancelled',
    });
    expect({ runs: plans.tracer.size, open: plans.spans.open }).to.deep.equal({ runs: 0, open: 0 });
  });

  it('have the handlers of a sub-pipeline below it, and those of the plan below the plan (D80)', async () => {
    const broken = subPipelineText(
      'a',
      controlledTask('a'),
      '',
      `finally: [${controlledTask('a', 'clean')}],`,
    );
    const plans = new TracedPlans([broken], {}, `on_failure: [${controlledTask('plan', 'alert')}],`);
    const id = await plans.held.submitPlan();
    await plans.held.failTask('a/t', 'no luck');
    await plans.advance(10);
    await plans.held.completeTask('a/clean');
    await plans.advance(5);
    await plans.held.completeTask('plan/alert');
    await plans.held.registry.settled(id);
    expect(plans.lines.filter((line) => !line.includes('attempt'))).to.deep.equal([
      'run plan > sub-pipeline a > wave 0 > task t 0-0 ! no luck',
      'run plan > sub-pipeline a > wave 0 0-0',
      'run plan > sub-pipeline a > finally > task clean 0-10',
      'run plan > sub-pipeline a > finally 0-10',
      'run plan > on_failure > task alert 10-15',
      'run plan > on_failure 10-15',
      'run plan > sub-pipeline a 0-10 ! no luck',
      'run plan 0-15 ! sub-pipeline "a", task "t": no luck',
    ]);
    expect({ runs: plans.tracer.size, open: plans.spans.open }).to.deep.equal({ runs: 0, open: 0 });
  });

  it('leave no span open when a plan is stopped by force, or never starts', async () => {
    const plans = new TracedPlans(TWO, { admission: { maxRunning: 1, maxQueued: 1 } });
    const first = await plans.held.submitPlan({ plan_concurrency: 2 });
    const second = await plans.held.submitPlan();
    await plans.held.registry.cancel(second);
    expect(plans.lines).to.deep.equal(['run plan 0-0']);
    await plans.held.registry.cancel(first, { force: true });
    await plans.held.registry.settled(first);
    expect({ runs: plans.tracer.size, open: plans.spans.open }).to.deep.equal({ runs: 0, open: 0 });
    expect(plans.ended).to.have.length(10);
  });

  it('leave no span open when a plan is deleted while it runs', async () => {
    const plans = new TracedPlans(TWO);
    const run = await plans.held.submitPlan({ plan_concurrency: 2 });
    plans.held.registry.forget(run);
    await plans.held.waitUntilIdle();
    plans.tracer.close();
    expect(plans.spans.open).to.equal(0);
  });
});
