import { expect } from 'chai';
import type { Blackboard } from '../../lib/blackboard/blackboard.js';
import { MemoryBlackboard } from '../../lib/blackboard/memory.js';
import { LocalExecutor } from '../../lib/execution/local.js';
import { defineTool } from '../../lib/tools/tool.js';
import { parsePipeline } from '../../lib/pipelines/load.js';
import { Puppet } from '../support/puppet.js';
import { running } from '../support/running.js';

const READ_K = '{id: read, tool: mock, await: [s], inputs: {k: "{{session.k}}"}}';

function read(run: Awaited<ReturnType<typeof running>>, key = 'k'): unknown {
  return (run.record().result?.outputs['read'] as { inputs: Record<string, unknown> }).inputs[key];
}

describe('the session (rule 6, Blackboard)', () => {
  it('holds what an awaited task stored', async () => {
    const run = await running(`{id: s, tool: store, inputs: {key: k, value: {n: 1}}}, ${READ_K}`);
    expect(read(run)).to.deep.equal({ n: 1 });
  });

  it('holds the values given for the run before any task runs (Blackboard, rule 5)', async () => {
    const run = await running('{id: read, tool: mock, inputs: {k: "{{session.k}}"}}', {
      session: { k: 'given' },
    });
    expect(read(run)).to.equal('given');
  });

  it('holds appends made under a fan-out in item order, whatever finished first (D23)', async () => {
    const puppet = new Puppet();
    const tool = defineTool({
      name: 'note',
      description: 'appends when it is let go',
      inputs: { n: { description: 'what' } },
      run: async ({ n }, context) => {
        context.blackboard.write('k', n, true);
        return puppet.tool.run({}, context);
      },
    });
    const run = await running(
      `{id: l, tool: transform, inputs: {input: null, expression: "[1, 2, 3]"}},
       {id: s, tool: note, parallel_over: "{{l.output}}", inputs: {n: "{{item}}"}}, ${READ_K}`,
      { tools: [tool] },
    );
    await run.advance(0);
    for (const item of [2, 0, 1]) await puppet.returns(item, puppet.calls[item]);
    expect(read(run)).to.deep.equal([1, 2, 3]);
  });

  it('appends to a given value as to any other, and leaves the blackboard of others alone (D23)', async () => {
    const blackboard = new MemoryBlackboard();
    const run = await running(`{id: s, tool: store, inputs: {key: k, value: 2, append: true}}, ${READ_K}`, {
      session: { k: 1, untouched: true },
      executor: { blackboard },
    });
    expect(read(run)).to.deep.equal([1, 2]);
    expect({ ...(await blackboard.get_all('default')) }).to.deep.equal({ k: [1, 2] });
  });

  it('does not hold what a failed attempt wrote, and holds once what its retry wrote', async () => {
    const tool = defineTool({
      name: 'twice',
      description: 'fails after its first write',
      inputs: {},
      run: (_, { blackboard, attempt }) => {
        blackboard.write('k', `attempt ${attempt}`, true);
        if (attempt === 1) throw new Error('again');
        return null;
      },
    });
    const run = await running(`{id: s, tool: twice, retry: 1}, ${READ_K}`, { tools: [tool] });
    await run.advance(500);
    expect(read(run)).to.deep.equal(['attempt 2']);
  });

  it('is limited to what the pipeline reads, and to what the run stores (D3)', async () => {
    const blackboard = new MemoryBlackboard();
    await blackboard.write('default', 'wanted', 1);
    await blackboard.write('default', 'other', 2);
    const executor = new LocalExecutor({ blackboard });
    const pipeline = parsePipeline(`{id: p, goal: g, reads: [wanted], tasks: [
      {id: s, tool: store, inputs: {key: own, value: 3}},
      {id: read, tool: mock, await: [s], inputs: {w: "{{session.wanted}}", o: "{{session.other ?? null}}", own: "{{session.own}}"}}]}`);
    const { outputs } = await executor.getResult(await executor.submit({ pipeline }));
    expect(outputs['read']).to.deep.include({ inputs: { w: 1, o: null, own: 3 } });
  });

  it('fails the task whose values the blackboard does not take, and publishes nothing of it', async () => {
    const blackboard: Blackboard = {
      get_all: async () => ({}),
      read_many: async () => ({}),
      write: () => Promise.reject(new Error('the disk is full')),
    };
    const run = await running('{id: s, tool: store, inputs: {key: k, value: 1}}', {
      executor: { blackboard },
    });
    const { status, error } = run.record();
    expect({ status, error }).to.deep.equal({
      status: 'failed',
      error: 'the blackboard did not take its values: the disk is full',
    });
  });

  it('keeps a run from starting when the blackboard cannot be read', async () => {
    const blackboard: Blackboard = {
      get_all: () => Promise.reject(new Error('no connection')),
      read_many: async () => ({}),
      write: async () => {},
    };
    const executor = new LocalExecutor({ blackboard });
    const pipeline = parsePipeline('{id: p, goal: g, tasks: [{id: a, tool: mock}]}');
    const error: unknown = await executor.submit({ pipeline }).catch((reason: unknown) => reason);
    expect(error)
      .to.be.instanceOf(Error)
      .with.property('message', 'the blackboard cannot be read: no connection');
  });

  it('refuses a value that JSON cannot hold at the moment it is written', async () => {
    const tool = defineTool({
      name: 'odd',
      description: 'writes a function',
      inputs: {},
      run: (_, { blackboard }) => blackboard.write('k', () => 1),
    });
    const run = await running('{id: s, tool: odd, retry: 3}', { tools: [tool] });
    expect(run.record().failures).to.deep.equal([
      {
        task_id: 's',
        error: '"k" was not written: the output holds a function, which JSON cannot hold',
        attempts: 1,
      },
    ]);
  });
});
