import { expect } from 'chai';
import { MemoryBlackboard } from '../../../lib/execution/session/memory-blackboard.js';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import type { PlanResult } from '../../../lib/execution/results.js';
import type { JsonObject } from '../../../lib/common/json/json.js';
import { parsePlan, planText, subPipelineText } from '../../support/definitions/parse-plan.js';
import { GetAllCounter } from '../../support/runs/get-all-counter.js';
import { controlledTask, startPlan, storeTask } from '../../support/runs/start-plan.js';

const STORING = subPipelineText(
  'a',
  '{id: s, tool: store, inputs: {key: k, value: 1}}, {id: r, tool: store, inputs: {key: other, value: 5}}',
  'stores: [k, other]',
);

/** Runs a plan whose second sub-pipeline has these tasks. */
async function runToEnd(
  tasks: string,
  { lists = 'reads: [k]', session = {} }: { lists?: string; session?: JsonObject } = {},
): Promise<PlanResult> {
  const plan = parsePlan(planText([STORING, subPipelineText('b', tasks, lists)]), { session });
  const executor = new LocalExecutor();
  return executor.getPlanResult(await executor.submitPlan({ plan, session }));
}

function readInputs({ sub_results }: PlanResult): unknown {
  return (sub_results['b']?.outputs['t'] as { inputs: unknown }).inputs;
}

describe('the session of a sub-pipeline (Plan, rule 2)', () => {
  it('contains every key that a template reads, with or without a fallback', async () => {
    const task =
      '{id: t, tool: mock, inputs: {k: "{{session.k}}", b: "{{session.b ?? 2}}", o: "{{session.other ?? 3}}"}}';
    expect(readInputs(await runToEnd(task, { lists: 'reads: [k, other]' }))).to.deep.equal({
      k: 1,
      b: 2,
      o: 5,
    });
  });

  it('lists all existing keys when one is missing (D13)', async () => {
    const failure = await runToEnd(
      '{id: t, tool: mock, inputs: {a: "{{session.absent}}", k: "{{session.k}}"}}',
    ).catch(String);
    expect(failure).to.contain('session.absent').and.to.contain('k, other');
  });

  it('does not count a key as missing that the sub-pipeline itself stores', async () => {
    const tasks =
      '{id: s, tool: store, inputs: {key: own, value: "{{session.k}}"}}, {id: t, tool: mock, await: [s], inputs: {o: "{{session.own}}"}}';
    expect(readInputs(await runToEnd(tasks, { lists: 'reads: [k], stores: [own]' }))).to.deep.equal({ o: 1 });
  });

  it('does not read the whole blackboard unless a key is missing', async () => {
    const counter = new GetAllCounter();
    try {
      const task = '{id: t, tool: mock, inputs: {k: "{{session.k}}", g: "{{session.given}}"}}';
      expect(readInputs(await runToEnd(task, { session: { given: 2 } }))).to.deep.equal({ k: 1, g: 2 });
      // One read for the result of the plan.
      expect(counter.count).to.equal(1);
    } finally {
      counter.restore();
    }
  });

  it('takes no memory for the submitted values that earlier sub-pipelines have left (D25, D45)', async () => {
    const session = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`key${n}`, n]));
    const tasks = controlledTask('b').replace('b}', 'b, k: "{{session.key0}}", n: "{{session.key9}}"}');
    const plan = await startPlan(
      [
        subPipelineText('a', storeTask('key0', '"new"'), 'stores: [key0]'),
        subPipelineText('b', tasks, 'reads: [key0]'),
      ],
      { session },
    );
    expect(plan.call('b/t').inputs).to.deep.equal({ of: 'b', k: 'new', n: 9 });
    const { prepared, subRuns } = plan.run;
    expect(subRuns.begun.size).to.equal(2);
    for (const run of subRuns.begun.values()) expect(run.prepared.session).to.equal(prepared.session);
  });

  it('reads a provided blackboard as a whole (Blackboard)', async () => {
    const blackboard = new MemoryBlackboard();
    let asked = 0;
    blackboard.getAll = (tenantId) => {
      asked++;
      return MemoryBlackboard.prototype.getAll.call(blackboard, tenantId);
    };
    const executor = new LocalExecutor({ blackboard });
    const plan = parsePlan(
      planText([
        STORING,
        subPipelineText('b', '{id: t, tool: mock, inputs: {k: "{{session.k}}"}}', 'reads: [k]'),
      ]),
    );
    await executor.getPlanResult(await executor.submitPlan({ plan }));
    expect(asked).to.equal(3);
  });
});
