import { expect } from 'chai';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import { settle } from '../../support/deferred.js';
import { BlockingBlackboard } from '../../support/runs/blocking-blackboard.js';
import { subPipelineText } from '../../support/definitions/parse-plan.js';
import { catchRejection } from '../../support/rejection.js';
import {
  controlledTask,
  TestPlanRun,
  type TestPlanRunOptions,
  startPlan,
} from '../../support/runs/start-plan.js';

/** Two tasks in two waves each. */
const TWO_WAVES = ['a', 'b', 'c'].map((id) =>
  subPipelineText(id, `${controlledTask(id)}, ${controlledTask(id, 'u', 'await: [t],')}`),
);
const ONE = [subPipelineText('a', controlledTask('a'))];
const TWO = [subPipelineText('a', controlledTask('a')), subPipelineText('b', controlledTask('b'))];

describe('PlanRun.cancel (rule 12, D21)', () => {
  it('keeps the plan cancelled when a task fails while it drains', async () => {
    const plan = await startPlan(TWO);
    await plan.cancel();
    await plan.rejects('a/t', 'boom');
    const { status, error, failures } = plan.record();
    expect({ status, error }).to.deep.equal({ status: 'cancelled', error: null });
    expect(failures).to.have.length(1);
  });

  it('aborts the tools in flight when forced, also while the plan drains', async () => {
    for (const forces of [[true], [false, true]]) {
      const plan = await startPlan(TWO_WAVES, { plan_concurrency: 2 });
      const signals = plan.controlled.calls.map(({ context }) => context.signal);
      for (const force of forces) await plan.cancel(force);
      expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true, true]);
      expect(plan.record()).to.deep.include({ status: 'cancelled', settled: true });
      expect(plan.record().failures.map(({ error }) => error)).to.deep.equal([
        'stopped by force',
        'stopped by force',
      ]);
    }
  });

  it('rejects a second cancel without force, and a cancel of a settled plan', async () => {
    const plan = await startPlan(TWO);
    await plan.cancel();
    expect(await catchRejection(plan.cancel())).to.include({ code: 'run_already_terminal' });
    await plan.returns('a/t');
    expect(await catchRejection(plan.cancel(true))).to.include({ code: 'run_already_terminal' });
  });

  it('makes a plan with a failed sub-pipeline cancelled, and never failed', async () => {
    const plan = await startPlan(TWO, { plan_concurrency: 2 });
    await plan.rejects('a/t', 'boom');
    expect(plan.record().status).to.equal('running');
    await plan.cancel();
    await plan.returns('b/t');
    expect(plan.record()).to.deep.include({ status: 'cancelled', settled: true, error: null });
    expect(plan.statuses).to.include('a failed').and.not.include('failed');
  });

  it('ends a sub-pipeline whose session is being read', async () => {
    const blackboard = new BlockingBlackboard('getAll');
    const plan = await startPlan(ONE, { executor: { blackboard } });
    expect(plan.record().status).to.equal('running');
    await plan.cancel();
    expect(plan.record()).to.deep.include({ status: 'cancelled', settled: true });
    await blackboard.release();
    expect(plan.order).to.deep.equal([]);
    expect(plan.statuses).to.include('a cancelled');
  });

  for (const force of [false, true]) {
    it(`ends a plan that is reading its blackboard at the end${force ? ', also by force' : ''}`, async () => {
      const blackboard = new BlockingBlackboard();
      const plan = await startPlan(ONE, { executor: { blackboard } });
      blackboard.blocked.add('getAll');
      await plan.returns('a/t');
      expect(plan.record()).to.deep.include({ status: 'running', settled: false });
      await plan.cancel(force);
      expect(plan.record()).to.deep.include({ status: 'cancelled', settled: true });
      await blackboard.release();
      expect(plan.record()).to.deep.include({ status: 'cancelled', error: null, result: null });
    });
  }

  describe('called from an event listener', () => {
    /** Runs a plan, and cancels it inside the first matching event. */
    async function cancelAt(
      wanted: (event: LiveEvent) => boolean,
      force: boolean,
      options: TestPlanRunOptions = {},
    ): Promise<TestPlanRun> {
      const found = { done: false };
      const plan = new TestPlanRun(TWO, options);
      plan.run.journal.subscribe((event) => {
        if (found.done || !wanted(event)) return;
        found.done = true;
        plan.run.cancel(force);
      });
      await plan.begin();
      while (!plan.run.isSettled) {
        const before = plan.controlled.calls.length;
        for (const call of plan.controlled.calls) call.resolve(null);
        await settle();
        if (plan.controlled.calls.length === before && !plan.run.isSettled) await settle(5);
      }
      expect(found.done).to.equal(true);
      return plan;
    }

    const MOMENTS: Record<string, (event: LiveEvent) => boolean> = {
      'the plan runs': (event) => event.kind === 'run' && event.status === 'running',
      'a sub-pipeline is queued': (event) => event.kind === 'sub_pipeline' && event.status === 'queued',
      'a sub-pipeline runs': (event) => event.kind === 'sub_pipeline' && event.status === 'running',
      'a wave begins': (event) => event.kind === 'wave' && event.phase === 'start',
      'a task begins': (event) => event.kind === 'start',
      'a task ends': (event) => event.kind === 'finish',
      'the first of two sub-pipelines has succeeded': (event) =>
        event.kind === 'sub_pipeline' && event.status === 'succeeded',
      'the last sub-pipeline has succeeded': (event) =>
        event.kind === 'sub_pipeline' && event.sub_pipeline === 'b' && event.status === 'succeeded',
    };

    for (const [moment, wanted] of Object.entries(MOMENTS)) {
      for (const force of [false, true]) {
        for (const concurrency of [1, 2]) {
          const how = `${force ? 'by force, ' : ''}${concurrency} together`;
          it(`leads to one terminal state: ${moment} (${how})`, async () => {
            const plan = await cancelAt(wanted, force, { plan_concurrency: concurrency });
            expect(plan.record()).to.deep.include({ status: 'cancelled', settled: true });
            const ends = plan.statuses.filter((status) => /^(succeeded|failed|cancelled)$/.test(status));
            expect(ends).to.deep.equal(['cancelled']);
            for (const id of ['a', 'b']) {
              const its = plan.statuses.filter((status) =>
                status.match(`^${id} (succeeded|failed|cancelled)$`),
              );
              const hasBegun = plan.statuses.includes(`${id} queued`);
              expect(its, plan.statuses.join(', ')).to.have.length(hasBegun ? 1 : 0);
            }
          });
        }
      }
    }

    it('has no effect when the plan has succeeded', async () => {
      const plan = await cancelAt((event) => event.kind === 'run' && event.status === 'succeeded', true);
      expect(plan.record().status).to.equal('succeeded');
      expect(plan.statuses.at(-1)).to.equal('succeeded');
    });
  });
});
