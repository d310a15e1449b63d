import { expect } from 'chai';
import { Metrics } from '../../lib/telemetry/metrics.js';
import { ControlledPlans } from '../runs/controlled-plans.js';
import { subPipelineText } from '../support/definitions/parse-plan.js';
import { controlledTask } from '../support/runs/start-plan.js';
import { readSamples, under } from './exposition.js';

const TWO = ['a', 'b'].map((id) => subPipelineText(id, controlledTask(id)));

describe('Metrics of plans', () => {
  let metrics: Metrics;
  let plans: ControlledPlans;

  beforeEach(() => {
    metrics = new Metrics();
    const { onEvent, onAttempt } = metrics;
    plans = new ControlledPlans(TWO, { onEvent, onAttempt });
    metrics.watch(plans.registry.queries);
  });

  afterEach(() => metrics.close());

  async function totals(): Promise<Record<string, number>> {
    return under(await readSamples(metrics), 'wavetrain_runs_total{pipeline="plan",');
  }

  it('count a plan as one run, and not its sub-pipelines', async () => {
    const first = await plans.submitPlan({ plan_concurrency: 2 });
    expect(await totals()).to.include({
      'status="queued",trigger="none"}': 1,
      'status="running",trigger="none"}': 1,
    });
    await plans.runToEnd(first, ['a/t']);
    const second = await plans.submitPlan();
    await plans.runToEnd(second);
    const third = await plans.submitPlan();
    await plans.registry.cancel(third, { force: true });
    expect(await totals()).to.deep.equal({
      'status="queued",trigger="none"}': 3,
      'status="running",trigger="none"}': 3,
      'status="succeeded",trigger="none"}': 1,
      'status="failed",trigger="none"}': 1,
      'status="cancelled",trigger="none"}': 1,
    });
  });

  it('count each task and attempt of its sub-pipelines once, and no reused ones', async () => {
    const first = await plans.submitPlan({ plan_concurrency: 2 });
    const atWork = await readSamples(metrics);
    expect(atWork.get('wavetrain_invocations_in_flight')).to.equal(2);
    expect(atWork.get('wavetrain_runs_running')).to.equal(1);
    await plans.runToEnd(first, ['b/t']);
    const again = await plans.registry.rerun(first, { from: 'failed' });
    await plans.waitUntilIdle();
    await plans.runToEnd(again);
    const samples = await readSamples(metrics);
    expect(samples.get('wavetrain_invocations_in_flight')).to.equal(0);
    const counts = {
      '{tool="controlled",outcome="succeeded"}': 2,
      '{tool="controlled",outcome="failed"}': 1,
    };
    expect(under(samples, 'wavetrain_task_duration_seconds_count')).to.deep.equal(counts);
    expect(under(samples, 'wavetrain_attempts_total')).to.deep.equal(counts);
  });
});
