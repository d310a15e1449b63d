import { expect } from 'chai';
import type { Blackboard } from '../../../lib/blackboard/blackboard.js';
import { MemoryBlackboard } from '../../../lib/blackboard/memory.js';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import type { Json } from '../../../lib/common/json.js';
import { type Deferred, deferred, settle } from '../../support/deferred.js';
import { Puppet } from '../../support/puppet.js';
import { running } from '../../support/runs/running.js';

const READ_K = '{id: read, tool: mock, await: [s], inputs: {k: "{{session.k}}"}}';

function read(run: Awaited<ReturnType<typeof running>>, key = 'k'): unknown {
  return (run.record().result?.outputs?.['read'] as { inputs: Record<string, unknown> }).inputs[key];
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
    expect({ ...(await blackboard.get_all('default')) }).to.deep.equal({ k: [2] });
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

  it('fails the run when the blackboard cannot be read', async () => {
    const blackboard: Blackboard = {
      get_all: () => Promise.reject(new Error('no connection')),
      read_many: async () => ({}),
      write: async () => {},
    };
    const run = await running('{id: a, tool: mock}', { executor: { blackboard } });
    expect(run.record()).to.deep.include({
      status: 'failed',
      error: 'the blackboard cannot be read: no connection',
      failures: [{ task_id: 'a', error: 'the blackboard cannot be read: no connection', attempts: 0 }],
    });
  });

  describe('on a blackboard that answers when the spec says so', () => {
    class SlowBlackboard extends MemoryBlackboard {
      readonly waiting: Deferred<void>[] = [];
      isSlow = true;

      override async get_all(tenantId: string): Promise<Record<string, Json>> {
        await this.#wait();
        return super.get_all(tenantId);
      }

      override async write(tenantId: string, key: string, value: Json, append?: boolean): Promise<void> {
        await this.#wait();
        return super.write(tenantId, key, value, append);
      }

      async answer(position = 0): Promise<void> {
        this.waiting.splice(position, 1)[0]?.resolve();
        await settle();
      }

      #wait(): Promise<void> | undefined {
        if (!this.isSlow) return undefined;
        const held = deferred<void>();
        this.waiting.push(held);
        return held.promise;
      }
    }

    it('is queued until the blackboard was read, and can be cancelled there', async () => {
      const blackboard = new SlowBlackboard();
      const run = await running('{id: a, tool: mock}', { executor: { blackboard } });
      expect(run.record().status).to.equal('queued');
      await run.executor.cancel(run.runId);
      await blackboard.answer();
      const { status, settled, started_at, progress } = run.record();
      expect({ status, settled, started_at }).to.deep.equal({
        status: 'cancelled',
        settled: true,
        started_at: null,
      });
      expect(progress.invocations).to.equal(0);
    });

    it('can be forced to end while it publishes', async () => {
      const blackboard = new SlowBlackboard();
      const run = await running('{id: s, tool: store, inputs: {key: k, value: 1}}', {
        executor: { blackboard },
      });
      await blackboard.answer();
      expect(run.record().status).to.equal('running');
      await run.executor.cancel(run.runId, { force: true });
      expect(run.record()).to.deep.include({ status: 'cancelled', settled: true });
      await blackboard.answer();
      expect(run.record().progress.tasks_settled).to.equal(1);
    });

    it('keeps appends of two tasks of a wave, and what is read back is never older than what is there', async () => {
      const blackboard = new SlowBlackboard();
      const tasks = `{id: a, tool: store, inputs: {key: k, value: a, append: true}}, {id: b, tool: store, inputs: {key: k, value: b, append: true}},
        {id: read, tool: mock, await: [a, b], inputs: {k: "{{session.k}}"}}`;
      const run = await running(tasks, { executor: { blackboard }, session: { k: ['given'] } });
      await blackboard.answer();
      while (blackboard.waiting.length > 0) await blackboard.answer(blackboard.waiting.length - 1);
      expect(read(run)).to.deep.equal(['given', 'a', 'b']);
      blackboard.isSlow = false;
      expect({ ...(await blackboard.get_all('default')) }).to.deep.equal({ k: ['a', 'b'] });
    });
  });

  it('does not write into what a custom blackboard gives', async () => {
    const live: Record<string, Json> = { own: [1] };
    const blackboard: Blackboard = {
      get_all: async () => live,
      read_many: async () => live,
      write: async () => {},
    };
    const peek = defineTool({
      name: 'peek',
      description: 'looks at everything',
      inputs: {},
      run: async (_, context) => ({ ...(await context.blackboard.get_all()) }),
    });
    const run = await running('{id: a, tool: peek}', {
      tools: [peek],
      executor: { blackboard },
      session: { secret: 1 },
    });
    expect(run.record().result?.outputs?.['a']).to.deep.equal({ own: [1], secret: 1 });
    expect(live).to.deep.equal({ own: [1] });
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

  it('counts what tools write as it counts what they return, but not twice what they store and return', async () => {
    const fill = defineTool({
      name: 'fill',
      description: 'writes much and returns nothing',
      inputs: {},
      run: (_, { blackboard }) => blackboard.write('k', 'x'.repeat(2000)),
    });
    const limited = { tools: [fill], executor: { runOutputLimitBytes: 3000 } };
    const run = await running('{id: a, tool: fill}, {id: b, tool: fill, await: [a]}', limited);
    expect(run.record().error).to.match(/^the outputs of the run are together larger than the limit/);
    const text = 'y'.repeat(2000);
    const stored = await running(`{id: a, tool: store, inputs: {key: k, value: ${text}}}`, limited);
    expect(stored.record().status).to.equal('succeeded');
  });

  for (const [what, odd] of [
    ['null', null],
    ['list', [1]],
    ['string', 'abc'],
    ['undefined', undefined],
  ] as const) {
    it(`fails the run in words when a blackboard gives ${what} for its values`, async () => {
      const blackboard = new MemoryBlackboard();
      Object.assign(blackboard, { get_all: async () => odd });
      const run = await running('{id: a, tool: mock}', { executor: { blackboard } });
      expect(run.record().error).to.equal(
        `the blackboard cannot be read: it gave ${what}, and no object of keys and values`,
      );
    });
  }

  it('tells a value that cannot be read back from one that was not taken', async () => {
    const blackboard = new MemoryBlackboard();
    const run = await running('{id: a, tool: store, inputs: {key: k, value: 1}}', {
      executor: {
        blackboard: Object.assign(blackboard, { read_many: () => Promise.reject(new Error('down')) }),
      },
    });
    expect(run.record().error).to.equal(
      'the blackboard did not take its values: they cannot be read back: down',
    );
  });
});
