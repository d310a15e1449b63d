import { expect } from 'chai';
import { MemoryBlackboard } from '../../../lib/blackboard/memory-blackboard.js';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import type { PlanResult } from '../../../lib/execution/results.js';
import type { JsonObject } from '../../../lib/common/json.js';
import { parsePlan, planText, subPipelineText } from '../../support/definitions/parse-plan.js';

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

/** Counts the calls of `MemoryBlackboard.getAll`. */
class GetAllCounter {
  count = 0;
  readonly #original = Object.getOwnPropertyDescriptor(MemoryBlackboard.prototype, 'getAll') ?? {};

  constructor() {
    const read = this.#original.value as (this: MemoryBlackboard, tenantId: string) => unknown;
    const increment = (): number => this.count++;
    Object.defineProperty(MemoryBlackboard.prototype, 'getAll', {
      configurable: true,
      value(this: MemoryBlackboard, tenantId: string) {
        increment();
        return read.call(this, tenantId);
      },
    });
  }

  restore(): void {
    Object.defineProperty(MemoryBlackboard.prototype, 'getAll', this.#original);
  }
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
