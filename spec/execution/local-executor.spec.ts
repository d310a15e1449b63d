import { expect } from 'chai';
import { MemoryBlackboard } from '../../lib/execution/session/memory-blackboard.js';
import { LocalExecutor } from '../../lib/execution/local-executor.js';
import type { JsonObject } from '../../lib/common/json/json.js';
import { parsePipeline } from '../../lib/pipelines/load.js';
import { executorSuite } from '../../lib/testing/executor-suite.js';
import { parsePlan, planText, subPipelineText } from '../support/definitions/parse-plan.js';
import { GetAllCounter } from '../support/runs/get-all-counter.js';
import { catchRejection } from '../support/rejection.js';

describe('LocalExecutor', () => {
  for (const { title, run } of executorSuite({ create: () => new LocalExecutor() })) it(title, run);

  const STORES = '{id: p, goal: g, tasks: [{id: a, tool: store, inputs: {key: k, value: 1, append: true}}]}';
  const READS = '{id: p, goal: g, tasks: [{id: a, tool: mock, inputs: {k: "{{session.k ?? null}}"}}]}';

  it('owns one blackboard, which its runs read and write (Blackboard, rule 3; D57)', async () => {
    const executor = new LocalExecutor();
    await executor.blackboard.write('one', 'k', 0);
    for (const tenant_id of ['one', 'two']) {
      await executor.getResult(await executor.submit({ pipeline: parsePipeline(STORES), tenant_id }));
    }
    const { outputs } = await executor.getResult(
      await executor.submit({ pipeline: parsePipeline(READS), tenant_id: 'one' }),
    );
    expect(outputs['a']).to.deep.include({ inputs: { k: [0, 1] } });
    expect({ ...(await executor.blackboard.getAll('two')) }).to.deep.equal({ k: [1] });
    expect({ ...(await new LocalExecutor().blackboard.getAll('two')) }).to.deep.equal({});
  });

  it('gives plans the same blackboard, and shows a provided one (D57)', async () => {
    const blackboard = new MemoryBlackboard();
    const executor = new LocalExecutor({ blackboard });
    expect(executor.blackboard).to.equal(blackboard);
    await executor.getResult(await executor.submit({ pipeline: parsePipeline(STORES) }));
    const plan = parsePlan(planText([subPipelineText('a', '{id: t, tool: mock}')]));
    const result = await executor.getPlanResult(await executor.submitPlan({ plan }));
    expect({ ...result.blackboard }).to.deep.equal({ k: [1] });
  });

  it('begins at once when a pipeline reads nothing of its own blackboard, and reads single keys of it (D57)', async () => {
    const executor = new LocalExecutor();
    const counter = new GetAllCounter();
    try {
      const runId = await executor.submit({ pipeline: parsePipeline(STORES) });
      expect(executor.getRun(runId).status).to.equal('running');
      await executor.getResult(runId);
      await executor.getResult(await executor.submit({ pipeline: parsePipeline(READS) }));
      expect(counter.count).to.equal(0);
    } finally {
      counter.restore();
    }
  });

  it('lists the keys of the blackboard when a template reads one that is missing (D13, D57)', async () => {
    const executor = new LocalExecutor();
    await executor.getResult(await executor.submit({ pipeline: parsePipeline(STORES) }));
    const reading = '{id: p, goal: g, tasks: [{id: a, tool: mock, inputs: {x: "{{session.other}}"}}]}';
    const error = await catchRejection(
      executor.getResult(await executor.submit({ pipeline: parsePipeline(reading) })),
    );
    expect(error).to.have.property('message').that.contains('it has k');
  });

  it('shares a provided blackboard between the runs of a tenant, and separates tenants', async () => {
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

  it('rejects getResult when the run is forgotten meanwhile', async () => {
    const executor = new LocalExecutor();
    const pipeline = parsePipeline(
      '{id: p, goal: g, tasks: [{id: a, tool: sleep, inputs: {seconds: 3600}}]}',
    );
    const runId = await executor.submit({ pipeline });
    const result = catchRejection(executor.getResult(runId));
    executor.forget(runId);
    expect(await result).to.include({ code: 'run_not_found' });
  });

  it('rejects inputs and session values that JSON cannot hold before the run exists', async () => {
    const executor = new LocalExecutor();
    const pipeline = parsePipeline('{id: p, goal: g, tasks: [{id: a, tool: mock}]}');
    const odd = { f: (() => 1) as unknown as null };
    expect(await catchRejection(executor.submit({ pipeline, inputs: odd }))).to.include({
      code: 'invalid_inputs',
    });
    expect(await catchRejection(executor.submit({ pipeline, session: odd }))).to.include({
      code: 'invalid_inputs',
    });
  });

  it('rejects params with which the goal cannot be rendered before the run exists', async () => {
    const executor = new LocalExecutor();
    const pipeline = parsePipeline(
      '{id: p, goal: "for {{params.o.name}}", params: {o: {type: object}}, tasks: [{id: a, tool: mock}]}',
    );
    expect(await catchRejection(executor.submit({ pipeline, params: { o: {} } }))).to.include({
      code: 'invalid_params',
    });
  });

  it('treats an undefined input as absent', async () => {
    const executor = new LocalExecutor();
    const pipeline = parsePipeline(
      '{id: p, goal: g, inputs: {y: 1}, tasks: [{id: a, tool: mock, inputs: {y: "{{pipeline.inputs.y}}"}}]}',
    );
    const inputs = { y: undefined } as unknown as JsonObject;
    const { outputs } = await executor.getResult(await executor.submit({ pipeline, inputs }));
    expect(outputs['a']).to.deep.include({ inputs: { y: 1 } });
  });

  it('drops a settled run, and stops an active one', async () => {
    const executor = new LocalExecutor();
    const pipeline = parsePipeline(
      '{id: p, goal: g, tasks: [{id: a, tool: sleep, inputs: {seconds: 3600}}]}',
    );
    const runId = await executor.submit({ pipeline });
    executor.forget(runId);
    expect(() => executor.getRun(runId)).to.throw('there is no run');
  });
});
