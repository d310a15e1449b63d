import { expect } from 'chai';
import type { Plan } from '../../../lib/plans/plan.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { RunRegistry } from '../../../lib/runs/registry.js';
import type { RerunRequest } from '../../../lib/runs/rerun/rerun.js';
import { parsePlan, planText, subPipelineText } from '../../support/definitions/parse-plan.js';
import { catchRejection } from '../../support/rejection.js';
import { storeTask } from '../../support/runs/start-plan.js';

const mock = (id: string, value: string): string => `{id: ${id}, tool: mock, inputs: {x: "${value}"}}`;

/** b reads what a stores, c what b stores; d reads an input of the plan. */
const A = subPipelineText('a', `${storeTask('ka', '1')}, ${mock('other', 'A')}`, 'stores: [ka]');
const B = subPipelineText(
  'b',
  `${mock('read', '{{session.ka}}')}, ${storeTask('kb', '2')}`,
  'reads: [ka], stores: [kb]',
);
const C = subPipelineText('c', mock('read', '{{session.kb}}'), 'reads: [kb]');
const D = subPipelineText('d', `${mock('in', '{{pipeline.inputs.i}}')}, ${mock('out', 'D')}`, 'inputs: [i]');
const BROKEN = subPipelineText(
  'c',
  '{id: read, tool: fail, inputs: {message: "{{session.kb}}"}}',
  'reads: [kb]',
);

class PlanChanges {
  readonly registry = new RunRegistry();

  parse(subPipelines: readonly string[], head = 'inputs: {i: 1},'): Plan {
    return parsePlan(planText(subPipelines, head));
  }

  async run(subPipelines: readonly string[]): Promise<string> {
    const runId = await this.registry.submitPlan({ plan: this.parse(subPipelines), collect_events: true });
    await this.registry.settled(runId);
    return runId;
  }

  /** Reruns to the end and returns what was not reused. */
  async fix(runId: string, request: RerunRequest): Promise<{ calls: string[]; record: RunRecord }> {
    const record = await this.registry.settled(await this.registry.rerun(runId, request));
    const calls = record.events?.flatMap(({ kind, reused, sub_pipeline, task_id }) =>
      kind === 'finish' && reused === undefined ? [`${sub_pipeline}/${task_id}`] : [],
    );
    return { calls: calls?.sort() ?? [], record };
  }
}

describe('RunRegistry.rerun of a plan with changes (D60)', () => {
  it('runs the tasks that changed and those that read another key, and reuses the others', async () => {
    const plans = new PlanChanges();
    const runId = await plans.run([A, B, C, D]);
    const plan = plans.parse([A.replace('value: 1', 'value: 9'), B, C, D]);
    const { calls, record } = await plans.fix(runId, { plan });
    expect(calls).to.deep.equal(['a/s', 'b/read']);
    expect(record.result?.blackboard).to.deep.equal({ ka: 9, kb: 2 });
    expect(record).to.deep.include({ rerun_of: runId, status: 'succeeded' });
    const report = await plans.registry.rerunReport(record.run_id);
    expect(report?.runs).to.deep.equal([
      { sub_pipeline: 'a', task_id: 's', reason: 'has changed inputs', reusable_items: 0, repeats: 0 },
      {
        sub_pipeline: 'b',
        task_id: 'read',
        reason: 'reads a key that may change',
        reusable_items: 0,
        repeats: 0,
      },
    ]);
    expect(report?.reused).to.have.length(5);
  });

  it('runs what has not succeeded once its pipeline was fixed', async () => {
    const plans = new PlanChanges();
    const runId = await plans.run([A, B, BROKEN, D]);
    expect(plans.registry.record(runId).status).to.equal('failed');
    const { calls, record } = await plans.fix(runId, { plan: plans.parse([A, B, C, D]) });
    expect(calls).to.deep.equal(['c/read', 'd/in', 'd/out']);
    expect(record.status).to.equal('succeeded');
  });

  it('runs what reads an input that changed, and reuses what depends on a value that did not', async () => {
    const plans = new PlanChanges();
    const runId = await plans.run([A, B, C, D]);
    expect((await plans.fix(runId, { inputs: { i: 2 } })).calls).to.deep.equal(['d/in']);
    const renamed = plans.parse([A.replace('id: other', 'id: renamed'), B, C, D]);
    expect((await plans.fix(runId, { plan: renamed })).calls).to.deep.equal(['a/renamed']);
  });

  it('runs a sub-pipeline that is new, and what reads a key that another one stores now', async () => {
    const plans = new PlanChanges();
    const runId = await plans.run([A, B, C, D]);
    const moved = subPipelineText('n', storeTask('ka', '1'), 'stores: [ka]');
    const plan = plans.parse([moved, B, C, D]);
    expect((await plans.fix(runId, { plan })).calls).to.deep.equal(['b/read', 'n/s']);
  });

  it('rejects changes of the other kind, and those that nothing reads', async () => {
    const plans = new PlanChanges();
    const runId = await plans.run([A, B, C, D]);
    expect(await catchRejection(plans.fix(runId, { params: {} }))).to.include({
      code: 'invalid_request',
      message: `run ${runId} belongs to a plan: a rerun of it cannot have "params"`,
    });
    for (const change of [
      { plan: plans.parse([A, B, C, D]) },
      { plan_concurrency: 2 },
      { inputs: { i: 1 } },
    ]) {
      expect(await catchRejection(plans.fix(runId, change))).to.include({ code: 'nothing_to_rerun' });
    }
  });
});
