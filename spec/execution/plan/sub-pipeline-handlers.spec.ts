import { expect } from 'chai';
import { subPipelineText } from '../../support/definitions/parse-plan.js';
import { settleUntil } from '../../support/deferred.js';
import { controlledTask, startPlan } from '../../support/runs/start-plan.js';

/** A sub-pipeline whose handler runs a pipeline. */
const PART = subPipelineText(
  'a',
  controlledTask('a'),
  '',
  `finally: [{id: z, tool: run_pipeline, inputs: {pipeline: {id: inner, goal: g, tasks: [${controlledTask('a', 'x')}]}}}],`,
);

describe('Handlers in a plan (D80)', () => {
  for (const force of [false, true]) {
    it(`run with their pipelines when the plan is cancelled${force ? ' by force' : ''}, before the plan settles`, async () => {
      const run = await startPlan([PART]);
      await run.executor.cancel(run.run.id, { force });
      if (!force) await run.controlled.returns('done');
      await settleUntil(() => run.controlled.calls.length === 2);
      expect(run.record()).to.deep.include({ status: 'cancelled', settled: false });
      await run.controlled.returns('clean');
      expect(run.record()).to.deep.include({
        status: 'cancelled',
        settled: true,
        sub_pipelines: { a: 'cancelled' },
      });
      const failed = run.events.filter(({ kind }) => kind === 'fail');
      expect(failed).to.have.length(force ? 1 : 0);
    });
  }

  it('of a failed sub-pipeline run before the plan fails, and go on when the plan is cancelled meanwhile', async () => {
    const run = await startPlan([PART]);
    await run.controlled.rejects(new Error('boom'));
    await settleUntil(() => run.controlled.calls.length === 2);
    expect(run.record()).to.deep.include({ status: 'running', sub_pipelines: { a: 'failed' } });
    await run.executor.cancel(run.run.id);
    await run.controlled.returns('clean');
    expect(run.record()).to.deep.include({ settled: true, sub_pipelines: { a: 'failed' } });
    expect(run.events.filter(({ kind }) => kind === 'fail')).to.have.length(1);
  });
});
