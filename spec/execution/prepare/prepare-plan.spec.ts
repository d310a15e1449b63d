import { expect } from 'chai';
import { WavetrainError } from '../../../lib/common/errors.js';
import { MAX_SHOWN_YAML_LENGTH } from '../../../lib/common/limits.js';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import type { PlanInputs } from '../../../lib/execution/prepare/run-inputs.js';
import type { PreparedPlan } from '../../../lib/execution/prepare/prepare-plan.js';
import { RUN_BYTES } from '../../../lib/execution/prepare/prepare-run.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import {
  type PlanEnvironment,
  parsePlan,
  planText,
  subPipelineText,
} from '../../support/definitions/parse-plan.js';

const A = subPipelineText('a', '{id: t, tool: mock}');

/** Creates a plan run without beginning it. */
function prepare(
  subPipelines: readonly string[],
  planInputs: Omit<PlanInputs, 'plan'> = {},
  head = '',
  environment: PlanEnvironment = {},
): PreparedPlan {
  const plan = parsePlan(planText(subPipelines, head), environment);
  return new LocalExecutor().createPlanRun({ plan, ...planInputs }).prepared;
}

function catchError(action: () => unknown): { readonly code: string; readonly message: string } {
  try {
    action();
  } catch (error) {
    if (error instanceof WavetrainError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('it was accepted');
}

describe('preparePlan', () => {
  it('uses one id, one tenant and one blackboard for all sub-pipelines', () => {
    const { id, subRuns, blackboard } = prepare([A, subPipelineText('b', '{id: t, tool: mock}')], {
      tenant_id: 'acme',
    });
    expect([...subRuns.keys()]).to.deep.equal(['a', 'b']);
    for (const subRun of subRuns.values()) {
      expect({ id: subRun.id, tenant: subRun.tenantId }).to.deep.equal({ id, tenant: 'acme' });
      expect(subRun.blackboard).to.equal(blackboard);
    }
  });

  it('uses the blackboard of the executor, or creates one for each run (Blackboard, rule 3)', () => {
    const plan = parsePlan(planText([A]));
    const executor = new LocalExecutor();
    const [one, other] = [executor.createPlanRun({ plan }), executor.createPlanRun({ plan })];
    expect(one.prepared.blackboard).not.to.equal(other.prepared.blackboard);
  });

  it('counts the waves and tasks of all its pipelines', () => {
    const two = subPipelineText('b', '{id: t, tool: mock}, {id: u, tool: mock, await: [t]}');
    expect(prepare([A, two])).to.include({ waves: 3, tasks: 3 });
  });

  it('passes only the inputs that a sub-pipeline lists (D44)', () => {
    const { subRuns } = prepare(
      [
        subPipelineText('a', '{id: t, tool: mock}', 'inputs: [x, y]', 'inputs: {x: 0, y: 0},'),
        subPipelineText('b', '{id: t, tool: mock}'),
      ],
      { inputs: { x: 2 } },
      'inputs: {x: 1, y: 1, z: 1},',
    );
    expect(subRuns.get('a')?.inputs).to.deep.equal({ x: 2, y: 1 });
    expect(subRuns.get('b')?.inputs).to.deep.equal({});
  });

  it('passes its options to all sub-pipelines, and rejects invalid ones once', () => {
    const { subRuns } = prepare([A], { options: { fan_out_concurrency: 3 } });
    expect(subRuns.get('a')?.options).to.include({ fanOutConcurrency: 3 });
    const { code, message } = catchError(() => prepare([A], { options: { fan_out_concurrency: 0 } }));
    expect(code).to.equal('invalid_options');
    expect(message).not.to.include('sub-pipeline');
  });

  for (const plan_concurrency of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    it(`rejects a plan_concurrency of ${plan_concurrency}`, () => {
      const { code, message } = catchError(() => prepare([A], { plan_concurrency }));
      expect(code).to.equal('invalid_options');
      expect(message).to.match(/^plan_concurrency must be a whole number above 0; it is /);
    });
  }

  it('names the sub-pipeline that cannot be prepared', () => {
    const broken =
      '{id: b, pipeline: {id: b, goal: "for {{params.p.name}}", params: {p: {type: object, default: null}}, tasks: [{id: t, tool: mock}]}}';
    const { code, message } = catchError(() => prepare([A, broken]));
    expect(code).to.equal('invalid_params');
    expect(message).to.match(/^sub-pipeline "b": cannot render the goal: /);
  });

  it('rejects inputs and session values that JSON cannot hold', () => {
    expect(catchError(() => prepare([A], { inputs: { x: Number.NaN } })).code).to.equal('invalid_inputs');
    expect(catchError(() => prepare([A], { session: { x: Number.NaN } })).code).to.equal('invalid_inputs');
  });

  it('counts each pipeline once, the session once, and every sub-run in its size', () => {
    const session = { k: 'x'.repeat(10_000) };
    const plan = parsePlan(
      planText(['a', 'b', 'c'].map((id) => subPipelineText(id, '{id: t, tool: mock}'))),
      { session },
    );
    const executor = new LocalExecutor();
    const bare = executor.createPlanRun({ plan }).prepared.sizeBytes;
    expect(bare).to.be.within(plan.sizeBytes + 4 * RUN_BYTES, plan.sizeBytes + 4 * RUN_BYTES + 1000);
    expect(executor.createPlanRun({ plan, session }).prepared.sizeBytes - bare).to.be.within(10_000, 11_000);
  });

  it('counts the text that it was submitted as, and keeps none that is longer than 1 MiB', () => {
    const executor = new LocalExecutor();
    const plan = parsePlan(planText([subPipelineText('a', '{id: t, tool: mock}')]));
    const pipeline = parsePipeline('{id: p, goal: g, tasks: [{id: t, tool: mock}]}');
    const prepareBoth = (submitted_text: string | undefined) => [
      executor.createPlanRun({ plan, submitted_text }).prepared,
      executor.createRun({ pipeline, submitted_text }).prepared,
    ];
    const bare = prepareBoth(undefined).map(({ sizeBytes }) => sizeBytes);
    for (const [length, kept] of [
      [1000, 1000],
      [MAX_SHOWN_YAML_LENGTH, MAX_SHOWN_YAML_LENGTH],
      [MAX_SHOWN_YAML_LENGTH + 1, undefined],
    ] as const) {
      for (const [index, { submittedText, sizeBytes }] of prepareBoth('x'.repeat(length)).entries()) {
        expect(submittedText?.length).to.equal(kept);
        expect(sizeBytes - (bare[index] ?? 0)).to.equal(2 * (kept ?? 0));
      }
    }
  });
});
