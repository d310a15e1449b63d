import { expect } from 'chai';
import type { Blackboard } from '../../../lib/blackboard/blackboard.js';
import { MemoryBlackboard } from '../../../lib/blackboard/memory.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { HeldBlackboard } from '../../support/held-blackboard.js';
import { sub } from '../../support/definitions/plan-of.js';
import { Puppet } from '../../support/puppet.js';
import { held, type RunningPlan, runningPlan, stores } from '../../support/runs/running-plan.js';

/** Tells what it reads of the session. */
function reads(...keys: string[]): string {
  const inputs = keys.map((key) => `${key}: "{{session.${key} ?? null}}"`).join(', ');
  return `{id: read, tool: mock, inputs: {${inputs}}}`;
}

function readIn(plan: RunningPlan, id: string): unknown {
  const { sub_results } = plan.record().result ?? {};
  return (sub_results?.[id]?.outputs['read'] as { inputs: unknown } | undefined)?.inputs;
}

const STORE_K = sub('a', stores('k', '1'), 'stores: [k]');

describe('the session of a sub-pipeline (Plan, rule 2; D45)', () => {
  it('is the full blackboard, with what all before it have stored', async () => {
    const blackboard = new MemoryBlackboard();
    await blackboard.write('default', 'earlier', 0);
    const plan = await runningPlan(
      [
        STORE_K,
        sub('b', stores('l', '2'), 'stores: [l]'),
        sub('c', reads('k', 'l', 'earlier'), 'reads: [l]'),
      ],
      { executor: { blackboard } },
    );
    expect(readIn(plan, 'c')).to.deep.equal({ k: 1, l: 2, earlier: 0 });
  });

  it('is what the pipeline reads, when it says so', async () => {
    const both = sub('a', `${stores('k', '1')}, ${stores('l', '2', 'z')}`, 'stores: [k, l]');
    const plan = await runningPlan([both, sub('c', reads('k', 'l'), 'reads: [k]', 'reads: [k],')]);
    expect(readIn(plan, 'c')).to.deep.equal({ k: 1, l: null });
  });

  it('holds the values given for the run, in every sub-pipeline, and puts them on no blackboard', async () => {
    const plan = await runningPlan([sub('a', reads('g')), sub('b', reads('g'))], { session: { g: [1] } });
    expect([readIn(plan, 'a'), readIn(plan, 'b')]).to.deep.equal([{ g: [1] }, { g: [1] }]);
    expect({ ...plan.record().result?.blackboard }).to.deep.equal({});
  });

  it('holds what was stored over a given value, in those that begin later', async () => {
    const plan = await runningPlan([STORE_K, sub('b', reads('k'), 'reads: [k]')], {
      session: { k: 'given' },
    });
    expect(readIn(plan, 'b')).to.deep.equal({ k: 1 });
  });

  it('holds a given value with what was appended to it, across sub-pipelines (D23)', async () => {
    const append = '{id: s, tool: store, inputs: {key: k, value: 2, append: true}}';
    const plan = await runningPlan(
      [
        sub('a', append, 'stores: [k]'),
        sub('b', reads('k'), 'reads: [k]'),
        sub('c', reads('k'), 'reads: [k]'),
      ],
      { session: { k: 1 } },
    );
    expect([readIn(plan, 'b'), readIn(plan, 'c')]).to.deep.equal([{ k: [1, 2] }, { k: [1, 2] }]);
    expect({ ...plan.record().result?.blackboard }).to.deep.equal({ k: [2] });
  });

  it('follows what one of several that ran together did to a given value', async () => {
    const plan = await runningPlan(
      [
        sub('a', `${held('a')}, ${stores('k', '1')}`, 'stores: [k]'),
        sub('b', held('b')),
        sub('c', reads('k', 'other'), 'reads: [k]'),
      ],
      { session: { k: 'given', other: true }, plan_concurrency: 2 },
    );
    await plan.returns('a/t');
    await plan.returns('b/t');
    expect(readIn(plan, 'c')).to.deep.equal({ k: 1, other: true });
  });

  it('is read anew when it begins: nothing that was stored meanwhile is missing', async () => {
    const blackboard = new HeldBlackboard('get_all');
    const plan = await runningPlan([STORE_K, sub('b', reads('k'), 'reads: [k]')], {
      executor: { blackboard },
    });
    expect(plan.statuses).to.deep.equal(['queued', 'running', 'a queued']);
    await blackboard.answer();
    expect(plan.statuses.slice(3)).to.deep.equal(['a running', 'a succeeded', 'b queued']);
    await blackboard.answer();
    expect(plan.record().status).to.equal('running');
    await blackboard.answer();
    expect(readIn(plan, 'b')).to.deep.equal({ k: 1 });
  });

  it('gives its inputs those of the plan that are handed on, over its own (D44)', async () => {
    const tasks = '{id: read, tool: mock, inputs: {x: "{{pipeline.inputs.x}}", y: "{{pipeline.inputs.y}}"}}';
    const plan = await runningPlan(
      [sub('a', tasks, 'inputs: [x]', 'inputs: {x: 0, y: 0},'), sub('b', tasks, 'inputs: [x, y]')],
      { head: 'inputs: {x: 1, y: 1},', inputs: { x: 2 } },
    );
    expect([readIn(plan, 'a'), readIn(plan, 'b')]).to.deep.equal([
      { x: 2, y: 0 },
      { x: 2, y: 1 },
    ]);
  });

  it('keeps appends of a fan-out in item order, whatever finished first (D23)', async () => {
    const puppet = new Puppet('slow');
    const note = defineTool({
      name: 'note',
      description: 'appends when it is let go',
      inputs: { n: { description: 'what' } },
      run: ({ n }, context) => {
        context.blackboard.write('k', n, true);
        return puppet.tool.run({}, context);
      },
    });
    const fan = '{id: s, tool: note, parallel_over: "{{pipeline.inputs.l}}", inputs: {n: "{{item}}"}}';
    const plan = await runningPlan(
      [sub('a', fan, 'stores: [k]', 'inputs: {l: [1, 2, 3]},'), sub('b', reads('k'), 'reads: [k]')],
      { tools: [note] },
    );
    for (const item of [2, 0, 1]) await puppet.returns(item, puppet.calls[item]);
    expect(readIn(plan, 'b')).to.deep.equal({ k: [1, 2, 3] });
  });
});

describe('a blackboard that fails a plan', () => {
  const refusing = (refused: Partial<Blackboard>): Blackboard => {
    const memory = new MemoryBlackboard();
    return {
      get_all: (tenantId) => memory.get_all(tenantId),
      read_many: (tenantId, keys) => memory.read_many(tenantId, keys),
      write: (tenantId, key, value, append) => memory.write(tenantId, key, value, append),
      ...refused,
    };
  };

  it('by refusing to be read fails the tasks of the sub-pipeline that begins', async () => {
    const blackboard = refusing({ get_all: () => Promise.reject(new Error('no connection')) });
    const plan = await runningPlan([sub('a', held('a')), sub('b', held('b'))], { executor: { blackboard } });
    expect(plan.record()).to.deep.include({
      status: 'failed',
      error: 'sub-pipeline "a", task "t": the blackboard cannot be read: no connection',
    });
    expect(plan.order).to.deep.equal([]);
  });

  it('by refusing a value fails the task that stores it', async () => {
    const blackboard = refusing({ write: () => Promise.reject(new Error('the disk is full')) });
    const plan = await runningPlan([STORE_K], { executor: { blackboard } });
    expect(plan.record().error).to.equal(
      'sub-pipeline "a", task "s": the blackboard did not take its values: the disk is full',
    );
  });

  it('by refusing what the plan leaves fails the plan, in whatever way it refuses', async () => {
    const ways: [Blackboard['get_all'], RegExp][] = [
      [() => Promise.reject(new Error('gone')), /^the blackboard cannot be read: gone$/],
      [
        () => {
          throw new Error('at once');
        },
        /^the blackboard cannot be read: at once$/,
      ],
      [async () => ({ k: JSON.parse('1e999') }), /^the blackboard cannot be read: holds Infinity/],
    ];
    for (const [get_all, message] of ways) {
      // The pipeline reads no key, so that only the end of the plan asks for everything.
      const plan = await runningPlan([sub('a', '{id: t, tool: mock}', '', 'reads: [],')], {
        executor: { blackboard: refusing({ get_all }) },
      });
      expect(plan.record()).to.deep.include({ status: 'failed', settled: true, result: null, failures: [] });
      expect(plan.record().error).to.match(message);
    }
  });

  it('by a slow answer at the end does not keep the plan from succeeding', async () => {
    const blackboard = new HeldBlackboard();
    const plan = await runningPlan([sub('a', held('a'))], { executor: { blackboard } });
    blackboard.holds.add('get_all');
    await plan.returns('a/t');
    expect(plan.record()).to.deep.include({ status: 'running', settled: false });
    await blackboard.answer();
    expect(plan.record()).to.deep.include({ status: 'succeeded', settled: true });
  });
});

describe('the stores of a sub-pipeline (D46)', () => {
  const refusal =
    /sub-pipeline "a", task "s": "l" was not written: sub-pipeline "a" may not store it; its stores are k$/;

  async function refused(plan: RunningPlan): Promise<void> {
    expect(plan.record()).to.include({ status: 'failed' });
    expect(plan.record().error).to.match(refusal);
    expect({ ...(await plan.run.prepared.blackboard.get_all('default')) }).to.deep.equal({});
  }

  it('are all that a templated key may be', async () => {
    const store = '{id: s, tool: store, retry: 2, inputs: {key: "{{pipeline.inputs.key}}", value: 1}}';
    const declared = sub('a', store, 'stores: [k], inputs: [key]');
    const at = (key: string): Promise<RunningPlan> =>
      runningPlan([declared], { head: 'inputs: {key: k},', inputs: { key } });
    const plan = await at('l');
    await refused(plan);
    expect(plan.record().failures[0]?.attempts).to.equal(1);
    expect((await at('k')).record().status).to.equal('succeeded');
  });

  it('are all that an own tool may write', async () => {
    const tool = defineTool({
      name: 'sneaky',
      description: 'writes what was not declared',
      inputs: {},
      run: (_, { blackboard }) => {
        blackboard.write('k', 1);
        blackboard.write('l', 2);
      },
    });
    await refused(await runningPlan([sub('a', '{id: s, tool: sneaky}', 'stores: [k]')], { tools: [tool] }));
  });

  it('are kept to also by a tool that swallows the refusal: the task fails, and nothing is written', async () => {
    const tool = defineTool({
      name: 'sneaky',
      description: 'writes what was not declared, and says nothing',
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
    await refused(await runningPlan([sub('a', '{id: s, tool: sneaky}', 'stores: [k]')], { tools: [tool] }));
  });

  it('are none when none are declared', async () => {
    const tool = defineTool({
      name: 'sneaky',
      description: 'writes what was not declared',
      inputs: {},
      run: (_, { blackboard }) => blackboard.write('l', 2),
    });
    const plan = await runningPlan([sub('a', '{id: s, tool: sneaky}')], { tools: [tool] });
    expect(plan.record().error).to.match(/may not store it; its stores are none$/);
  });
});
