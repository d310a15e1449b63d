import { expect } from 'chai';
import { MemoryBlackboard } from '../../lib/blackboard/memory.js';
import { LocalExecutor } from '../../lib/execution/local.js';
import { parsePipeline } from '../../lib/pipelines/load.js';
import { executorSuite } from '../../lib/testing/executor-suite.js';

describe('the local executor', () => {
  for (const { title, run } of executorSuite({ create: () => new LocalExecutor() })) it(title, run);

  const STORES = '{id: p, goal: g, tasks: [{id: a, tool: store, inputs: {key: k, value: 1, append: true}}]}';
  const READS = '{id: p, goal: g, tasks: [{id: a, tool: mock, inputs: {k: "{{session.k ?? null}}"}}]}';

  it('gives each run a fresh blackboard', async () => {
    const executor = new LocalExecutor();
    await executor.getResult(await executor.submit({ pipeline: parsePipeline(STORES) }));
    const { outputs } = await executor.getResult(await executor.submit({ pipeline: parsePipeline(READS) }));
    expect(outputs['a']).to.deep.include({ inputs: { k: null } });
  });

  it('shares a blackboard that it was given between runs of one tenant, and keeps tenants apart', async () => {
    const executor = new LocalExecutor({ blackboard: new MemoryBlackboard() });
    const read = async (tenant_id: string): Promise<unknown> => {
      const runId = await executor.submit({ pipeline: parsePipeline(READS), tenant_id });
      return ((await executor.getResult(runId)).outputs['a'] as { inputs: { k: unknown } }).inputs.k;
    };
    for (const tenant_id of ['__proto__', 'one']) {
      await executor.getResult(await executor.submit({ pipeline: parsePipeline(STORES), tenant_id }));
    }
    expect(await read('one')).to.deep.equal([1]);
    expect(await read('__proto__')).to.deep.equal([1]);
    expect(await read('two')).to.equal(null);
  });

  it('counts calls of mock from 1 in every run (D22)', async () => {
    const executor = new LocalExecutor();
    const pipeline = parsePipeline(
      '{id: p, goal: g, tasks: [{id: a, tool: mock}, {id: b, tool: mock, await: [a]}]}',
    );
    for (let time = 0; time < 2; time++) {
      const { outputs } = await executor.getResult(await executor.submit({ pipeline }));
      expect(
        [outputs['a'], outputs['b']].map((output) => (output as { call_count: number }).call_count),
      ).to.deep.equal([1, 2]);
    }
  });

  it('forgets a run that is over, and stops one that is not', async () => {
    const executor = new LocalExecutor();
    const pipeline = parsePipeline(
      '{id: p, goal: g, tasks: [{id: a, tool: sleep, inputs: {seconds: 3600}}]}',
    );
    const runId = await executor.submit({ pipeline });
    executor.forget(runId);
    expect(() => executor.run(runId)).to.throw('there is no run');
  });
});
