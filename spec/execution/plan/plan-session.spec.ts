import { expect } from 'chai';
import { MemoryBlackboard } from '../../../lib/blackboard/memory.js';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import type { PlanResult } from '../../../lib/execution/results.js';
import type { JsonObject } from '../../../lib/common/json.js';
import { planOf, planText, sub } from '../../support/definitions/plan-of.js';

const STORING = sub(
  'a',
  '{id: s, tool: store, inputs: {key: k, value: 1}}, {id: r, tool: store, inputs: {key: other, value: 5}}',
  'stores: [k, other]',
);

/** A plan whose second sub-pipeline has these tasks. */
async function ended(
  tasks: string,
  { lists = 'reads: [k]', session = {} }: { lists?: string; session?: JsonObject } = {},
): Promise<PlanResult> {
  const plan = planOf(planText([STORING, sub('b', tasks, lists)]), { session });
  const executor = new LocalExecutor();
  return executor.getPlanResult(await executor.submitPlan({ plan, session }));
}

/** Counts how often a blackboard in memory is read as a whole. */
class WatchedReads {
  count = 0;
  readonly #original = Object.getOwnPropertyDescriptor(MemoryBlackboard.prototype, 'get_all') ?? {};

  constructor() {
    const read = this.#original.value as (this: MemoryBlackboard, tenantId: string) => unknown;
    const watch = (): number => this.count++;
    Object.defineProperty(MemoryBlackboard.prototype, 'get_all', {
      configurable: true,
      value(this: MemoryBlackboard, tenantId: string) {
        watch();
        return read.call(this, tenantId);
      },
    });
  }

  end(): void {
    Object.defineProperty(MemoryBlackboard.prototype, 'get_all', this.#original);
  }
}

function inputsOfT({ sub_results }: PlanResult): unknown {
  return (sub_results['b']?.outputs['t'] as { inputs: unknown }).inputs;
}

describe('the session of a sub-pipeline, of which only what its templates read is copied (Plan, rule 2)', () => {
  it('holds every key that a template reads, with a fallback or without', async () => {
    const task =
      '{id: t, tool: mock, inputs: {k: "{{session.k}}", b: "{{session.b ?? 2}}", o: "{{session.other ?? 3}}"}}';
    expect(inputsOfT(await ended(task, { lists: 'reads: [k, other]' }))).to.deep.equal({ k: 1, b: 2, o: 5 });
  });

  it('names all keys that there are when one is missing (D13)', async () => {
    const failure = await ended(
      '{id: t, tool: mock, inputs: {a: "{{session.absent}}", k: "{{session.k}}"}}',
    ).catch(String);
    expect(failure).to.contain('session.absent').and.to.contain('k, other');
  });

  it('lets a key be read that the sub-pipeline itself stores, though it is not there yet', async () => {
    const tasks =
      '{id: s, tool: store, inputs: {key: own, value: "{{session.k}}"}}, {id: t, tool: mock, await: [s], inputs: {o: "{{session.own}}"}}';
    expect(inputsOfT(await ended(tasks, { lists: 'reads: [k], stores: [own]' }))).to.deep.equal({ o: 1 });
  });

  it('does not ask for all of it unless something is missing, however large it is', async () => {
    const watched = new WatchedReads();
    try {
      const task = '{id: t, tool: mock, inputs: {k: "{{session.k}}", g: "{{session.given}}"}}';
      expect(inputsOfT(await ended(task, { session: { given: 2 } }))).to.deep.equal({ k: 1, g: 2 });
      // What the plan leaves on its blackboard.
      expect(watched.count).to.equal(1);
    } finally {
      watched.end();
    }
  });

  it('is asked for as a whole of a blackboard that somebody brings along (Blackboard)', async () => {
    const blackboard = new MemoryBlackboard();
    let asked = 0;
    blackboard.get_all = (tenantId) => {
      asked++;
      return MemoryBlackboard.prototype.get_all.call(blackboard, tenantId);
    };
    const executor = new LocalExecutor({ blackboard });
    const plan = planOf(
      planText([STORING, sub('b', '{id: t, tool: mock, inputs: {k: "{{session.k}}"}}', 'reads: [k]')]),
    );
    await executor.getPlanResult(await executor.submitPlan({ plan }));
    expect(asked).to.equal(3);
  });
});
