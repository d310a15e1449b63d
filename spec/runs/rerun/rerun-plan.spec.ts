import { expect } from 'chai';
import { MemoryBlackboard } from '../../../lib/execution/session/memory-blackboard.js';
import type { RegistryOptions } from '../../../lib/runs/registry-options.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { subPipelineText } from '../../support/definitions/parse-plan.js';
import { catchRejection } from '../../support/rejection.js';
import { controlledTask, storeTask } from '../../support/runs/start-plan.js';
import { ControlledPlans } from '../controlled-plans.js';

/** A tool that returns its value and appends it to a key of the blackboard. */
function noteTool(called: string[]) {
  return defineTool({
    name: 'note',
    description: 'appends a value to a key of the blackboard',
    inputs: { key: { description: 'the key', required: true }, value: { description: 'the value' } },
    run: ({ key, value }, { blackboard, task_id }) => {
      if (typeof key !== 'string') throw new TypeError('key must be a string');
      called.push(`${key}/${task_id}`);
      blackboard.write(key, value, true);
      return value;
    },
  });
}

/** c reads from b, which reads from a; d is independent. a, b and c have two tasks each. */
const SUBS = [
  subPipelineText(
    'a',
    `${controlledTask('a')}, {id: n, tool: note, inputs: {key: ka, value: "{{t.output}}"}}`,
    'stores: [ka]',
  ),
  subPipelineText(
    'b',
    `{id: n, tool: note, inputs: {key: kb, value: "{{session.ka.0}}"}}, ${controlledTask('b', 't', 'await: [n],')}`,
    'reads: [ka], stores: [kb]',
  ),
  subPipelineText(
    'c',
    `{id: r, tool: mock, inputs: {ka: "{{session.ka}}", kb: "{{session.kb}}"}}, ${controlledTask('c')}`,
    'reads: [ka, kb]',
  ),
  subPipelineText('d', controlledTask('d')),
];

class PlanReruns extends ControlledPlans {
  readonly noted: string[];

  constructor(options: RegistryOptions = {}) {
    const noted: string[] = [];
    super(SUBS, options, { tools: [noteTool(noted)] });
    this.noted = noted;
  }

  /** Reruns to the end and returns the calls made for it. */
  async rerunToEnd(
    runId: string,
    from?: string,
    breaks: readonly string[] = [],
  ): Promise<{ readonly runId: string; readonly calls: string[] }> {
    const [calls, notes] = [this.controlled.calls.length, this.noted.length];
    const next = await this.registry.rerun(runId, { from });
    await this.waitUntilIdle();
    await this.runToEnd(next, breaks);
    return { runId: next, calls: [...this.callNames.slice(calls), ...this.noted.slice(notes)].sort() };
  }

  resultOf(runId: string): unknown {
    const { result } = this.registry.record(runId);
    const outputs = result?.sub_results?.['c']?.outputs['r'] as { inputs: unknown } | undefined;
    return { blackboard: { ...result?.blackboard }, seenByC: outputs?.inputs };
  }
}

const WHOLE = { blackboard: { ka: ['a/t'], kb: ['a/t'] }, seenByC: { ka: ['a/t'], kb: ['a/t'] } };

describe('RunRegistry.rerun of a plan (D35)', () => {
  it('from "failed" calls only tasks that have not succeeded, on a rebuilt blackboard', async () => {
    const plans = new PlanReruns();
    const first = await plans.submitPlan();
    expect(await plans.runToEnd(first, ['b/t'])).to.include({ status: 'failed' });
    const { runId, calls } = await plans.rerunToEnd(first, 'failed');
    expect(calls).to.deep.equal(['b/t', 'c/t', 'd/t']);
    expect(plans.registry.record(runId)).to.deep.include({
      status: 'succeeded',
      rerun_of: first,
      kind: 'plan',
    });
    expect(plans.resultOf(runId)).to.deep.equal(WHOLE);
  });

  it('appends nothing twice to a blackboard shared by the runs', async () => {
    const plans = new PlanReruns({ blackboard: new MemoryBlackboard() });
    const first = await plans.submitPlan();
    await plans.runToEnd(first, ['c/t']);
    const { runId } = await plans.rerunToEnd(first, 'failed');
    expect(plans.resultOf(runId)).to.deep.equal(WHOLE);
  });

  it('from a sub-pipeline calls that one and all that read from it, directly or indirectly', async () => {
    const plans = new PlanReruns();
    const first = await plans.submitPlan();
    await plans.runToEnd(first);
    expect((await plans.rerunToEnd(first, 'b')).calls).to.deep.equal(['b/t', 'c/t', 'kb/n']);
    expect((await plans.rerunToEnd(first, 'd')).calls).to.deep.equal(['d/t']);
    const { runId, calls } = await plans.rerunToEnd(first, 'a');
    expect(calls).to.deep.equal(['a/t', 'b/t', 'c/t', 'ka/n', 'kb/n']);
    expect(plans.resultOf(runId)).to.deep.equal(WHOLE);
  });

  it('from a sub-pipeline calls those that read from it only through another one', async () => {
    const chain = ['a', 'b', 'c'].map((id, index, ids) => {
      const reads = index === 0 ? '' : `reads: [k${ids[index - 1]}], `;
      return subPipelineText(
        id,
        `${controlledTask(id)}, ${storeTask(`k${id}`, '1')}`,
        `${reads}stores: [k${id}]`,
      );
    });
    const plans = new ControlledPlans([...chain, subPipelineText('d', controlledTask('d'))]);
    const first = await plans.submitPlan();
    await plans.runToEnd(first);
    const again = await plans.registry.rerun(first, { from: 'a' });
    await plans.waitUntilIdle();
    await plans.runToEnd(again);
    expect(plans.callNames.slice(4)).to.deep.equal(['a/t', 'b/t', 'c/t']);
  });

  it('from a sub-pipeline of a failed run also calls tasks that have not succeeded', async () => {
    const plans = new PlanReruns();
    const first = await plans.submitPlan();
    await plans.runToEnd(first, ['b/t']);
    expect((await plans.rerunToEnd(first, 'd')).calls).to.deep.equal(['b/t', 'c/t', 'd/t']);
  });

  it('without "from" calls every task', async () => {
    const plans = new PlanReruns();
    const first = await plans.submitPlan();
    await plans.runToEnd(first);
    const { runId, calls } = await plans.rerunToEnd(first);
    expect(calls).to.have.length(6);
    expect(plans.resultOf(runId)).to.deep.equal(WHOLE);
  });

  it('continues a cancelled run where it ended, also when it never started', async () => {
    const plans = new PlanReruns();
    const first = await plans.submitPlan();
    await plans.completeTask('a/t');
    await plans.registry.cancel(first);
    await plans.completeTask('b/t');
    expect(plans.registry.record(first)).to.deep.include({ status: 'cancelled', settled: true });
    const { runId, calls } = await plans.rerunToEnd(first, 'failed');
    expect(calls).to.deep.equal(['c/t', 'd/t']);
    expect(plans.resultOf(runId)).to.deep.equal(WHOLE);
    const waiting = new PlanReruns();
    const queued = await waiting.registry.submitPlan({ plan: waiting.plan });
    await waiting.registry.cancel(queued, { force: true });
    await waiting.registry.settled(queued);
    expect((await waiting.rerunToEnd(queued, 'failed')).calls).to.have.length(6);
  });

  it('of a rerun calls no task that succeeded in either run, also when the first rerun ended early', async () => {
    const plans = new PlanReruns();
    const first = await plans.submitPlan();
    await plans.runToEnd(first, ['c/t']);
    const second = await plans.rerunToEnd(first, 'failed', ['d/t']);
    expect(second.calls).to.deep.equal(['c/t', 'd/t']);
    const third = await plans.registry.rerun(second.runId, { from: 'failed' });
    await plans.registry.cancel(third, { force: true });
    await plans.registry.settled(third);
    const { runId, calls } = await plans.rerunToEnd(third, 'failed');
    expect(calls).to.deep.equal(['d/t']);
    expect(plans.resultOf(runId)).to.deep.equal(WHOLE);
  });

  it('marks reused outputs in the events and counts no invocation for them', async () => {
    const plans = new PlanReruns();
    const first = await plans.submitPlan({ collect_events: true });
    await plans.runToEnd(first, ['d/t']);
    const { runId } = await plans.rerunToEnd(first, 'failed');
    const { events, progress } = plans.registry.record(runId);
    expect(progress).to.deep.include({ invocations: 1, tasks_settled: 7, sub_pipelines_settled: 4 });
    const reused = events?.flatMap(({ kind, reused, sub_pipeline, task_id }) =>
      kind === 'finish' && reused ? [`${sub_pipeline}/${task_id}`] : [],
    );
    expect(reused?.sort()).to.deep.equal(['a/n', 'a/t', 'b/n', 'b/t', 'c/r', 'c/t']);
  });

  it('uses the session, inputs, options, tenant and concurrency of the first run', async () => {
    const plans = new ControlledPlans(
      ['a', 'b'].map((id) => subPipelineText(id, controlledTask(id))),
      {},
      { session: { s: 1 } },
    );
    const first = await plans.submitPlan({ session: { s: 1 }, tenant_id: 'acme', plan_concurrency: 2 });
    await plans.runToEnd(first);
    const next = await plans.registry.rerun(first);
    await plans.waitUntilIdle();
    expect(plans.callNames.slice(2)).to.deep.equal(['a/t', 'b/t']);
    expect(plans.registry.queries.tenantId(next)).to.equal('acme');
    expect(await plans.findTaskCall('a/t').context.blackboard.getAll()).to.deep.include({ s: 1 });
  });

  it('rejects a running run, a run with nothing to rerun, and an unknown sub-pipeline', async () => {
    const plans = new PlanReruns();
    const first = await plans.submitPlan();
    expect(await catchRejection(plans.registry.rerun(first))).to.include({ code: 'run_not_settled' });
    await plans.runToEnd(first);
    expect(await catchRejection(plans.registry.rerun(first, { from: 'failed' }))).to.include({
      code: 'nothing_to_rerun',
      message: `run ${first} succeeded: name a sub-pipeline, or rerun the whole plan`,
    });
    expect(await catchRejection(plans.registry.rerun(first, { from: 'n' }))).to.include({
      code: 'invalid_request',
      message: 'the plan has no sub-pipeline "n"; its sub-pipelines are a, b, c, d',
    });
  });
});
