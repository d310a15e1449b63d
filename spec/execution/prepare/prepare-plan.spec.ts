import { expect } from 'chai';
import { WavetrainError } from '../../../lib/common/errors.js';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import type { PlanInputs } from '../../../lib/execution/run-inputs.js';
import type { PreparedPlan } from '../../../lib/execution/prepare/prepare-plan.js';
import { type PlanKnown, planOf, planText, sub } from '../../support/definitions/plan-of.js';

const A = sub('a', '{id: t, tool: mock}');

/** A plan that is accepted and never begun. */
function prepared(
  subPipelines: readonly string[],
  given: Omit<PlanInputs, 'plan'> = {},
  head = '',
  known: PlanKnown = {},
): PreparedPlan {
  const plan = planOf(planText(subPipelines, head), known);
  return new LocalExecutor().acceptPlan({ plan, ...given }).prepared;
}

function refusal(prepare: () => unknown): { readonly code: string; readonly message: string } {
  try {
    prepare();
  } catch (error) {
    if (error instanceof WavetrainError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('it was accepted');
}

describe('what a plan run is given', () => {
  it('is one id, one tenant and the same blackboard for all sub-pipelines', () => {
    const { id, subRuns, blackboard } = prepared([A, sub('b', '{id: t, tool: mock}')], { tenant_id: 'acme' });
    expect([...subRuns.keys()]).to.deep.equal(['a', 'b']);
    for (const subRun of subRuns.values()) {
      expect({ id: subRun.id, tenant: subRun.tenantId }).to.deep.equal({ id, tenant: 'acme' });
      expect(subRun.blackboard).to.equal(blackboard);
    }
  });

  it('is the blackboard of the executor, or a fresh one for each run (Blackboard, rule 3)', () => {
    const plan = planOf(planText([A]));
    const executor = new LocalExecutor();
    const [one, other] = [executor.acceptPlan({ plan }), executor.acceptPlan({ plan })];
    expect(one.prepared.blackboard).not.to.equal(other.prepared.blackboard);
  });

  it('counts the waves and tasks of all its pipelines', () => {
    const two = sub('b', '{id: t, tool: mock}, {id: u, tool: mock, await: [t]}');
    expect(prepared([A, two])).to.include({ waves: 3, tasks: 3 });
  });

  it('hands on the inputs that a sub-pipeline asks for, and no other (D44)', () => {
    const { subRuns } = prepared(
      [
        sub('a', '{id: t, tool: mock}', 'inputs: [x, y]', 'inputs: {x: 0, y: 0},'),
        sub('b', '{id: t, tool: mock}'),
      ],
      { inputs: { x: 2 } },
      'inputs: {x: 1, y: 1, z: 1},',
    );
    expect(subRuns.get('a')?.inputs).to.deep.equal({ x: 2, y: 1 });
    expect(subRuns.get('b')?.inputs).to.deep.equal({});
  });

  it('hands its options on to all, and refuses them once for all', () => {
    const { subRuns } = prepared([A], { options: { fan_out_concurrency: 3 } });
    expect(subRuns.get('a')?.options).to.include({ fanOutConcurrency: 3 });
    const { code, message } = refusal(() => prepared([A], { options: { fan_out_concurrency: 0 } }));
    expect(code).to.equal('invalid_options');
    expect(message).not.to.include('sub-pipeline');
  });

  for (const plan_concurrency of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    it(`refuses a plan_concurrency of ${plan_concurrency}`, () => {
      const { code, message } = refusal(() => prepared([A], { plan_concurrency }));
      expect(code).to.equal('invalid_options');
      expect(message).to.match(/^plan_concurrency must be a whole number above 0; it is /);
    });
  }

  it('names the sub-pipeline that cannot be prepared, before any has begun', () => {
    const broken =
      '{id: b, pipeline: {id: b, goal: "for {{params.p.name}}", params: {p: {type: object, default: null}}, tasks: [{id: t, tool: mock}]}}';
    const { code, message } = refusal(() => prepared([A, broken]));
    expect(code).to.equal('invalid_params');
    expect(message).to.match(/^sub-pipeline "b": the goal cannot be told: /);
  });

  it('refuses inputs and session that JSON cannot hold', () => {
    expect(refusal(() => prepared([A], { inputs: { x: Number.NaN } })).code).to.equal('invalid_inputs');
    expect(refusal(() => prepared([A], { session: { x: Number.NaN } })).code).to.equal('invalid_inputs');
  });

  it('weighs each pipeline once, the session once for all, and the run of each sub-pipeline', () => {
    const session = { k: 'x'.repeat(10_000) };
    const plan = planOf(planText(['a', 'b', 'c'].map((id) => sub(id, '{id: t, tool: mock}'))), { session });
    const executor = new LocalExecutor();
    const bare = executor.acceptPlan({ plan }).prepared.weight;
    expect(bare).to.be.within(plan.weight + 30_000, plan.weight + 31_000);
    expect(executor.acceptPlan({ plan, session }).prepared.weight - bare).to.be.within(10_000, 11_000);
  });
});
