import { expect } from 'chai';
import type { Blackboard } from '../../../lib/execution/session/blackboard.js';
import { MemoryBlackboard } from '../../../lib/execution/session/memory-blackboard.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { BlockingBlackboard } from '../../support/runs/blocking-blackboard.js';
import { subPipelineText } from '../../support/definitions/parse-plan.js';
import { controlledTask, type TestPlanRun, startPlan, storeTask } from '../../support/runs/start-plan.js';

/** Declares a task that returns the session values it reads. */
function readTask(...keys: string[]): string {
  const inputs = keys.map((key) => `${key}: "{{session.${key} ?? null}}"`).join(', ');
  return `{id: read, tool: mock, inputs: {${inputs}}}`;
}

function readValues(plan: TestPlanRun, id: string): unknown {
  const { sub_results } = plan.record().result ?? {};
  return (sub_results?.[id]?.outputs['read'] as { inputs: unknown } | undefined)?.inputs;
}

const STORE_K = subPipelineText('a', storeTask('k', '1'), 'stores: [k]');

describe('SubRuns: the session of a sub-pipeline (Plan, rule 2; D45)', () => {
  it('is the whole blackboard, with what earlier sub-pipelines stored', async () => {
    const blackboard = new MemoryBlackboard();
    await blackboard.write('default', 'earlier', 0);
    const plan = await startPlan(
      [
        STORE_K,
        subPipelineText('b', storeTask('l', '2'), 'stores: [l]'),
        subPipelineText('c', readTask('k', 'l', 'earlier'), 'reads: [l]'),
      ],
      { executor: { blackboard } },
    );
    expect(readValues(plan, 'c')).to.deep.equal({ k: 1, l: 2, earlier: 0 });
  });

  it('is limited to the keys in `reads`', async () => {
    const both = subPipelineText(
      'a',
      `${storeTask('k', '1')}, ${storeTask('l', '2', 'z')}`,
      'stores: [k, l]',
    );
    const plan = await startPlan([
      both,
      subPipelineText('c', readTask('k', 'l'), 'reads: [k]', 'reads: [k],'),
    ]);
    expect(readValues(plan, 'c')).to.deep.equal({ k: 1, l: null });
  });

  it('contains the submitted values in every sub-pipeline, and writes them to no blackboard', async () => {
    const plan = await startPlan([subPipelineText('a', readTask('g')), subPipelineText('b', readTask('g'))], {
      session: { g: [1] },
    });
    expect([readValues(plan, 'a'), readValues(plan, 'b')]).to.deep.equal([{ g: [1] }, { g: [1] }]);
    expect({ ...plan.record().result?.blackboard }).to.deep.equal({});
  });

  it('contains a submitted value with what was appended to it, across sub-pipelines (D23)', async () => {
    const append = '{id: s, tool: store, inputs: {key: k, value: 2, append: true}}';
    const plan = await startPlan(
      [
        subPipelineText('a', append, 'stores: [k]'),
        subPipelineText('b', readTask('k'), 'reads: [k]'),
        subPipelineText('c', readTask('k'), 'reads: [k]'),
      ],
      { session: { k: 1 } },
    );
    expect([readValues(plan, 'b'), readValues(plan, 'c')]).to.deep.equal([{ k: [1, 2] }, { k: [1, 2] }]);
    expect({ ...plan.record().result?.blackboard }).to.deep.equal({ k: [2] });
  });

  it('applies what one of several concurrent sub-pipelines did to a submitted value', async () => {
    const plan = await startPlan(
      [
        subPipelineText('a', `${controlledTask('a')}, ${storeTask('k', '1')}`, 'stores: [k]'),
        subPipelineText('b', controlledTask('b')),
        subPipelineText('c', readTask('k', 'other'), 'reads: [k]'),
      ],
      { session: { k: 'given', other: true }, plan_concurrency: 2 },
    );
    await plan.returns('a/t');
    await plan.returns('b/t');
    expect(readValues(plan, 'c')).to.deep.equal({ k: 1, other: true });
  });

  it('is read when the sub-pipeline begins, with everything stored until then', async () => {
    const blackboard = new BlockingBlackboard('getAll');
    const plan = await startPlan([STORE_K, subPipelineText('b', readTask('k'), 'reads: [k]')], {
      executor: { blackboard },
    });
    expect(plan.statuses).to.deep.equal(['queued', 'running', 'a queued']);
    await blackboard.release();
    expect(plan.statuses.slice(3)).to.deep.equal(['a running', 'a succeeded', 'b queued']);
    await blackboard.release();
    expect(plan.record().status).to.equal('running');
    await blackboard.release();
    expect(readValues(plan, 'b')).to.deep.equal({ k: 1 });
  });

  it('overrides the sub-pipeline inputs with those that the plan passes on (D44)', async () => {
    const tasks = '{id: read, tool: mock, inputs: {x: "{{pipeline.inputs.x}}", y: "{{pipeline.inputs.y}}"}}';
    const plan = await startPlan(
      [
        subPipelineText('a', tasks, 'inputs: [x]', 'inputs: {x: 0, y: 0},'),
        subPipelineText('b', tasks, 'inputs: [x, y]'),
      ],
      { head: 'inputs: {x: 1, y: 1},', inputs: { x: 2 } },
    );
    expect([readValues(plan, 'a'), readValues(plan, 'b')]).to.deep.equal([
      { x: 2, y: 0 },
      { x: 2, y: 1 },
    ]);
  });
});

describe('SubRuns with a failing blackboard', () => {
  const failingBlackboard = (failing: Partial<Blackboard>): Blackboard => {
    const memory = new MemoryBlackboard();
    return {
      getAll: (tenantId) => memory.getAll(tenantId),
      readMany: (tenantId, keys) => memory.readMany(tenantId, keys),
      write: (tenantId, key, value, append) => memory.write(tenantId, key, value, append),
      ...failing,
    };
  };

  it('fail the tasks of a sub-pipeline whose session cannot be read', async () => {
    const blackboard = failingBlackboard({ getAll: () => Promise.reject(new Error('no connection')) });
    const plan = await startPlan(
      [subPipelineText('a', controlledTask('a')), subPipelineText('b', controlledTask('b'))],
      { executor: { blackboard } },
    );
    expect(plan.record()).to.deep.include({
      status: 'failed',
      error: 'sub-pipeline "a", task "t": the blackboard cannot be read: no connection',
    });
    expect(plan.order).to.deep.equal([]);
  });

  it('fail the plan when the final blackboard cannot be read, whatever the reason', async () => {
    const failures: [Blackboard['getAll'], RegExp][] = [
      [() => Promise.reject(new Error('gone')), /^the blackboard cannot be read: gone$/],
      [
        () => {
          throw new Error('at once');
        },
        /^the blackboard cannot be read: at once$/,
      ],
      [async () => ({ k: JSON.parse('1e999') }), /^the blackboard cannot be read: holds Infinity/],
    ];
    for (const [getAll, message] of failures) {
      // The pipeline reads no key, so only the end of the plan reads the whole blackboard.
      const plan = await startPlan([subPipelineText('a', '{id: t, tool: mock}', '', 'reads: [],')], {
        executor: { blackboard: failingBlackboard({ getAll }) },
      });
      expect(plan.record()).to.deep.include({ status: 'failed', settled: true, result: null, failures: [] });
      expect(plan.record().error).to.match(message);
    }
  });

  it('let the plan succeed when the final blackboard is slow', async () => {
    const blackboard = new BlockingBlackboard();
    const plan = await startPlan([subPipelineText('a', controlledTask('a'))], { executor: { blackboard } });
    blackboard.blocked.add('getAll');
    await plan.returns('a/t');
    expect(plan.record()).to.deep.include({ status: 'running', settled: false });
    await blackboard.release();
    expect(plan.record()).to.deep.include({ status: 'succeeded', settled: true });
  });
});

describe('the declared stores of a sub-pipeline (D46)', () => {
  const message =
    /sub-pipeline "a", task "s": "l" was not written: sub-pipeline "a" may not store it; its stores are k$/;

  async function expectRejectedWrite(plan: TestPlanRun): Promise<void> {
    expect(plan.record()).to.include({ status: 'failed' });
    expect(plan.record().error).to.match(message);
    expect({ ...(await plan.run.prepared.blackboard.getAll('default')) }).to.deep.equal({});
  }

  describe('with a templated key (D55)', () => {
    const store = '{id: s, tool: store, retry: 2, inputs: {key: "{{pipeline.inputs.key}}", value: 1}}';
    const declared = subPipelineText('a', store, 'stores: [k], inputs: [key]');
    const startWith = (key: string, ...others: string[]): Promise<TestPlanRun> =>
      startPlan([declared, ...others], { head: 'inputs: {key: k},', inputs: { key }, session: { given: 1 } });

    it('allow a key that no other sub-pipeline lists, which later ones then read', async () => {
      expect((await startWith('k')).record().status).to.equal('succeeded');
      const reader = subPipelineText('b', readTask('l'), 'reads: [k]');
      const plan = await startPlan(
        [subPipelineText('a', `${storeTask('k', '1', 'z')}, ${store}`, 'stores: [k], inputs: [key]'), reader],
        { head: 'inputs: {key: l},' },
      );
      expect(plan.record()).to.include({ status: 'succeeded' });
      expect(readValues(plan, 'b')).to.deep.equal({ l: 1 });
      expect({ ...plan.record().result?.blackboard }).to.deep.equal({ k: 1, l: 1 });
    });

    it('refuse a key that another sub-pipeline stores or reads, and do not retry', async () => {
      const writer = subPipelineText('b', storeTask('l', '2'), 'stores: [l]');
      const reader = subPipelineText('c', readTask('given'), 'reads: [given]');
      for (const [key, other] of [
        ['l', 'b'],
        ['given', 'c'],
      ] as const) {
        const plan = await startWith(key, writer, reader);
        expect(plan.record().error).to.equal(
          `sub-pipeline "a", task "s": "${key}" was not written: sub-pipeline "a" may not store it, because "${other}" lists it; its stores are k`,
        );
        expect(plan.record().failures[0]?.attempts).to.equal(1);
      }
    });

    it('allow it in a pipeline that a task runs', async () => {
      const inner = `{id: n, goal: g, inputs: {key: l}, tasks: [${store}]}`;
      const calling = `{id: call, tool: run_pipeline, inputs: {pipeline: ${inner}}}`;
      const plan = await startPlan([subPipelineText('a', calling)]);
      expect({ ...plan.record().result?.blackboard }).to.deep.equal({ l: 1 });
    });
  });

  it('restrict the writes of a custom tool', async () => {
    const tool = defineTool({
      name: 'sneaky',
      description: 'writes what was not declared',
      inputs: {},
      run: (_, { blackboard }) => {
        blackboard.write('k', 1);
        blackboard.write('l', 2);
      },
    });
    await expectRejectedWrite(
      await startPlan([subPipelineText('a', '{id: s, tool: sneaky}', 'stores: [k]')], { tools: [tool] }),
    );
  });

  it('fail a task whose tool catches the rejection, and write nothing', async () => {
    const tool = defineTool({
      name: 'sneaky',
      description: 'writes an undeclared key and catches the error',
      inputs: {},
      run: (_, { blackboard }) => {
        blackboard.write('k', 1);
        try {
          blackboard.write('l', 2);
        } catch {
          return 'fine';
        }
        return 'not refused';
      },
    });
    await expectRejectedWrite(
      await startPlan([subPipelineText('a', '{id: s, tool: sneaky}', 'stores: [k]')], { tools: [tool] }),
    );
  });

  it('allow no key when none is declared', async () => {
    const tool = defineTool({
      name: 'sneaky',
      description: 'writes what was not declared',
      inputs: {},
      run: (_, { blackboard }) => blackboard.write('l', 2),
    });
    const plan = await startPlan([subPipelineText('a', '{id: s, tool: sneaky}')], { tools: [tool] });
    expect(plan.record().error).to.match(/may not store it; its stores are none$/);
  });
});
