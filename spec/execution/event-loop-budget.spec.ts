import { expect } from 'chai';
import { eventLoopBudget } from '../../lib/execution/run/event-loop-budget.js';
import { LocalExecutor } from '../../lib/execution/local-executor.js';
import { parsePipeline } from '../../lib/pipelines/load.js';
import { defineTool } from '../../lib/tools/tool.js';
import { countTurns, endSlice, holdSlices } from '../support/slices.js';

describe('eventLoopBudget', () => {
  beforeEach(holdSlices);

  it('runs deferred work for one slice in each turn of the event loop, however much was deferred', async () => {
    const turns = countTurns();
    const ranInTurn: number[] = [];
    await new Promise<void>((resolve) => {
      const work = (): void => {
        endSlice();
        ranInTurn.push(turns.count);
        if (ranInTurn.length < 24) eventLoopBudget.defer(work);
        else if (ranInTurn.length === 24) resolve();
      };
      for (let time = 0; time < 4; time++) eventLoopBudget.defer(work);
    });
    turns.stop();
    expect(ranInTurn).to.deep.equal([...new Set(ranInTurn)]);
  });

  it('counts what deferred work sets off, such as the results of the tools that it has called', async () => {
    const turns = countTurns();
    const ranInTurn: number[] = [];
    await new Promise<void>((resolve) => {
      eventLoopBudget.defer(() => {
        ranInTurn.push(turns.count);
        void Promise.resolve().then(endSlice);
      });
      eventLoopBudget.defer(() => {
        ranInTurn.push(turns.count);
        resolve();
      });
    });
    turns.stop();
    expect(ranInTurn[1]).to.be.greaterThan(ranInTurn[0] ?? Number.NaN);
  });

  it('lets tenants take turns: much deferred work of one does not delay that of another (D25)', async () => {
    const alice = eventLoopBudget.forTenant('alice');
    const bob = eventLoopBudget.forTenant('bob');
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      for (let time = 0; time < 100; time++) alice.defer(() => order.push('alice'));
      for (let time = 0; time < 3; time++) bob.defer(() => order.push('bob'));
      bob.defer(resolve);
    });
    expect(order.filter((tenant) => tenant === 'bob')).to.have.length(3);
    expect(order.filter((tenant) => tenant === 'alice')).to.have.length.at.most(4);
  });

  it('lets a short run of one tenant end while the fan-outs of another take long (D25)', async () => {
    const invocations = { alice: 0, bob: 0 };
    let calls = 0;
    const count = defineTool({
      name: 'count',
      description: 'counts its calls',
      inputs: { who: { type: 'string', description: 'the tenant' } },
      openInputs: true,
      run: async ({ who }) => {
        if (++calls % 100 === 0) endSlice();
        invocations[who === 'bob' ? 'bob' : 'alice']++;
        return null;
      },
    });
    const items = Array.from({ length: 20_000 }, (_, item) => item);
    const long = parsePipeline(
      `{id: long, goal: g, inputs: {items: []}, tasks: [
        {id: each, tool: count, parallel_over: '{{pipeline.inputs.items}}', inputs: {who: alice, item: '{{item}}'}}]}`,
      { tools: [count] },
    );
    const short = parsePipeline(
      `{id: short, goal: g, tasks: [
        {id: a, tool: count, inputs: {who: bob, item: 1}},
        {id: b, tool: count, await: [a], inputs: {who: bob, item: 2}}]}`,
      { tools: [count] },
    );
    const executor = new LocalExecutor();
    const longRuns: string[] = [];
    for (let time = 0; time < 4; time++) {
      longRuns.push(await executor.submit({ pipeline: long, inputs: { items }, tenant_id: 'alice' }));
    }
    await nextTurn();
    const shortRun = await executor.submit({ pipeline: short, tenant_id: 'bob' });
    await executor.getResult(shortRun);
    expect(invocations.bob).to.equal(2);
    expect(invocations.alice).to.be.at.most(16_000);
    for (const runId of longRuns) await executor.getResult(runId);
    expect(invocations.alice).to.equal(80_000);
  });
});

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
