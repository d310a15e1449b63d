import { expect } from 'chai';
import type { Blackboard } from '../../../lib/execution/session/blackboard.js';
import { MemoryBlackboard } from '../../../lib/execution/session/memory-blackboard.js';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import type { Json } from '../../../lib/common/json/json.js';
import { type Deferred, deferred, settle } from '../../support/deferred.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { GetAllCounter } from '../../support/runs/get-all-counter.js';
import { startRun } from '../../support/runs/start-run.js';

const READ_K = '{id: read, tool: mock, await: [s], inputs: {k: "{{session.k}}"}}';

function read(run: Awaited<ReturnType<typeof startRun>>, key = 'k'): unknown {
  return (run.record().result?.outputs?.['read'] as { inputs: Record<string, unknown> }).inputs[key];
}

describe('Session (rule 6, Blackboard)', () => {
  it('contains what an awaited task stored', async () => {
    const run = await startRun(`{id: s, tool: store, inputs: {key: k, value: {n: 1}}}, ${READ_K}`);
    expect(read(run)).to.deep.equal({ n: 1 });
  });

  it('contains the submitted values before any task runs (Blackboard, rule 5)', async () => {
    const run = await startRun('{id: read, tool: mock, inputs: {k: "{{session.k}}"}}', {
      session: { k: 'given' },
    });
    expect(read(run)).to.equal('given');
  });

  it('contains appends of a fan-out in item order, whatever item finishes first (D23)', async () => {
    const controlled = new ControlledTool();
    const tool = defineTool({
      name: 'note',
      description: 'appends when the spec releases it',
      inputs: { n: { description: 'what' } },
      run: async ({ n }, context) => {
        context.blackboard.write('k', n, true);
        return controlled.tool.run({}, context);
      },
    });
    const run = await startRun(
      `{id: l, tool: transform, inputs: {input: null, expression: "[1, 2, 3]"}},
       {id: s, tool: note, parallel_over: "{{l.output}}", inputs: {n: "{{item}}"}}, ${READ_K}`,
      { tools: [tool] },
    );
    await run.advance(0);
    for (const item of [2, 0, 1]) await controlled.returns(item, controlled.calls[item]);
    expect(read(run)).to.deep.equal([1, 2, 3]);
  });

  it('appends to a submitted value without writing it to a provided blackboard (D23)', async () => {
    const blackboard = new MemoryBlackboard();
    const run = await startRun(`{id: s, tool: store, inputs: {key: k, value: 2, append: true}}, ${READ_K}`, {
      session: { k: 1, untouched: true },
      executor: { blackboard },
    });
    expect(read(run)).to.deep.equal([1, 2]);
    expect({ ...(await blackboard.getAll('default')) }).to.deep.equal({ k: [2] });
  });

  it('contains what a retry wrote once, and nothing of the failed attempt', async () => {
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
    const run = await startRun(`{id: s, tool: twice, retry: 1}, ${READ_K}`, { tools: [tool] });
    await run.advance(500);
    expect(read(run)).to.deep.equal(['attempt 2']);
  });

  it('is limited to the keys in `reads` and to those that the run stores (D3)', async () => {
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

  it('fails a task whose values the blackboard rejects, and publishes nothing of it', async () => {
    const blackboard: Blackboard = {
      getAll: async () => ({}),
      readMany: async () => ({}),
      write: () => Promise.reject(new Error('the disk is full')),
    };
    const run = await startRun('{id: s, tool: store, inputs: {key: k, value: 1}}', {
      executor: { blackboard },
    });
    const { status, error } = run.record();
    expect({ status, error }).to.deep.equal({
      status: 'failed',
      error: 'cannot store the values on the blackboard: the disk is full',
    });
  });

  it('fails the run when the blackboard cannot be read', async () => {
    const blackboard: Blackboard = {
      getAll: () => Promise.reject(new Error('no connection')),
      readMany: async () => ({}),
      write: async () => {},
    };
    const run = await startRun('{id: a, tool: mock}', { executor: { blackboard } });
    expect(run.record()).to.deep.include({
      status: 'failed',
      error: 'the blackboard cannot be read: no connection',
      failures: [{ task_id: 'a', error: 'the blackboard cannot be read: no connection', attempts: 0 }],
    });
  });

  describe('with a slow blackboard', () => {
    class SlowBlackboard extends MemoryBlackboard {
      readonly waiting: Deferred<void>[] = [];
      isSlow = true;

      override async getAll(tenantId: string): Promise<Record<string, Json>> {
        await this.#wait();
        return super.getAll(tenantId);
      }

      override async write(tenantId: string, key: string, value: Json, append?: boolean): Promise<void> {
        await this.#wait();
        return super.write(tenantId, key, value, append);
      }

      async complete(position = 0): Promise<void> {
        this.waiting.splice(position, 1)[0]?.resolve();
        await settle();
      }

      #wait(): Promise<void> | undefined {
        if (!this.isSlow) return undefined;
        const pending = deferred<void>();
        this.waiting.push(pending);
        return pending.promise;
      }
    }

    it('keeps the run queued until the blackboard is read, and lets it be cancelled', async () => {
      const blackboard = new SlowBlackboard();
      const run = await startRun('{id: a, tool: mock}', { executor: { blackboard } });
      expect(run.record().status).to.equal('queued');
      await run.executor.cancel(run.runId);
      await blackboard.complete();
      const { status, settled, started_at, progress } = run.record();
      expect({ status, settled, started_at }).to.deep.equal({
        status: 'cancelled',
        settled: true,
        started_at: null,
      });
      expect(progress.invocations).to.equal(0);
    });

    it('lets the run be forced while it publishes', async () => {
      const blackboard = new SlowBlackboard();
      const run = await startRun('{id: s, tool: store, inputs: {key: k, value: 1}}', {
        executor: { blackboard },
      });
      await blackboard.complete();
      expect(run.record().status).to.equal('running');
      await run.executor.cancel(run.runId, { force: true });
      expect(run.record()).to.deep.include({ status: 'cancelled', settled: true });
      await blackboard.complete();
      expect(run.record().progress.tasks_settled).to.equal(1);
    });

    it('keeps the appends of two tasks of a wave, and never reads back an older value', async () => {
      const blackboard = new SlowBlackboard();
      const tasks = `{id: a, tool: store, inputs: {key: k, value: a, append: true}}, {id: b, tool: store, inputs: {key: k, value: b, append: true}},
        {id: read, tool: mock, await: [a, b], inputs: {k: "{{session.k}}"}}`;
      const run = await startRun(tasks, { executor: { blackboard }, session: { k: ['given'] } });
      await blackboard.complete();
      while (blackboard.waiting.length > 0) await blackboard.complete(blackboard.waiting.length - 1);
      expect(read(run)).to.deep.equal(['given', 'a', 'b']);
      blackboard.isSlow = false;
      expect({ ...(await blackboard.getAll('default')) }).to.deep.equal({ k: ['a', 'b'] });
    });
  });

  it('does not change what a custom blackboard returns', async () => {
    const live: Record<string, Json> = { own: [1] };
    const blackboard: Blackboard = {
      getAll: async () => live,
      readMany: async () => live,
      write: async () => {},
    };
    const peek = defineTool({
      name: 'peek',
      description: 'looks at everything',
      inputs: {},
      run: async (_, context) => ({ ...(await context.blackboard.getAll()) }),
    });
    const run = await startRun('{id: a, tool: peek}', {
      tools: [peek],
      executor: { blackboard },
      session: { secret: 1 },
    });
    expect(run.record().result?.outputs?.['a']).to.deep.equal({ own: [1], secret: 1 });
    expect(live).to.deep.equal({ own: [1] });
  });

  it('rejects a value that JSON cannot hold when it is written', async () => {
    const tool = defineTool({
      name: 'odd',
      description: 'writes a function',
      inputs: {},
      run: (_, { blackboard }) => blackboard.write('k', () => 1),
    });
    const run = await startRun('{id: s, tool: odd, retry: 3}', { tools: [tool] });
    expect(run.record().failures).to.deep.equal([
      {
        task_id: 's',
        error: '"k" was not written: the output holds a function, which JSON cannot hold',
        attempts: 1,
      },
    ]);
  });

  it('counts writes like outputs, and a value that is stored and returned once', async () => {
    const fill = defineTool({
      name: 'fill',
      description: 'writes much and returns nothing',
      inputs: {},
      run: (_, { blackboard }) => blackboard.write('k', 'x'.repeat(2000)),
    });
    const limited = { tools: [fill], executor: { runOutputLimitBytes: 6000 } };
    const run = await startRun('{id: a, tool: fill}, {id: b, tool: fill, await: [a]}', limited);
    expect(run.record().error).to.match(/^the run takes more memory than the limit of /);
    const text = 'y'.repeat(2000);
    const stored = await startRun(`{id: a, tool: store, inputs: {key: k, value: ${text}}}`, limited);
    expect(stored.record().status).to.equal('succeeded');
  });

  for (const [what, odd] of [
    ['null', null],
    ['a list', [1]],
    ['a string', 'abc'],
    ['undefined', undefined],
  ] as const) {
    it(`fails the run when a blackboard returns ${what} instead of a record`, async () => {
      const blackboard = new MemoryBlackboard();
      Object.assign(blackboard, { getAll: async () => odd });
      const run = await startRun('{id: a, tool: mock}', { executor: { blackboard } });
      expect(run.record().error).to.equal(
        `the blackboard cannot be read: it returned ${what} instead of an object of keys and values`,
      );
    });
  }

  it('distinguishes a value that cannot be read back from one that was rejected', async () => {
    const blackboard = new MemoryBlackboard();
    const run = await startRun('{id: a, tool: store, inputs: {key: k, value: 1}}', {
      executor: {
        blackboard: Object.assign(blackboard, { readMany: () => Promise.reject(new Error('down')) }),
      },
    });
    expect(run.record().error).to.equal(
      'cannot store the values on the blackboard: they cannot be read back: down',
    );
  });

  it('is not read as a whole for each nested run whose templates have values for all keys (D49)', async () => {
    const blackboard = new MemoryBlackboard();
    let readAsWhole = 0;
    blackboard.getAll = (tenantId) => {
      readAsWhole++;
      return MemoryBlackboard.prototype.getAll.call(blackboard, tenantId);
    };
    const nested = `{id: n, goal: g, inputs: {i: 0}, tasks: [
      {id: s, tool: store, inputs: {key: own, value: 1}},
      {id: r, tool: mock, await: [s], inputs: {a: "{{session.absent ?? 2}}", b: "{{session.own}}", c: "{{session.given}}", i: "{{pipeline.inputs.i}}"}}]}`;
    const run = await startRun(
      `{id: read, tool: run_pipeline, parallel_over: "{{pipeline.inputs.l}}", inputs: {pipeline: ${nested}, session: {given: 3}, inputs: {i: "{{item}}"}}}`,
      { inputs: { l: [1, 2, 3] }, executor: { blackboard } },
    );
    await run.executor.getRun(run.runId).settled;
    expect(run.record()).to.include({ error: null, status: 'succeeded' });
    // By the run itself.
    expect(readAsWhole).to.equal(1);
  });

  it('is read as a whole once for all nested runs that may need all of it, until a task writes (D49)', async () => {
    const controlled = new ControlledTool();
    const nested =
      '{id: n, goal: g, inputs: {i: 0}, tasks: [{id: t, tool: controlled, inputs: {i: "{{pipeline.inputs.i}}"}}]}';
    const call = (id: string, more = ''): string =>
      `{id: ${id}, tool: run_pipeline, ${more} parallel_over: "{{pipeline.inputs.l}}", inputs: {pipeline: ${nested}, inputs: {i: "{{item}}"}}}`;
    const reads = new GetAllCounter();
    try {
      const run = await startRun(
        `${call('a')}, {id: s, tool: store, await: [a], inputs: {key: k, value: 1}}, ${call('b', 'await: [s],')}`,
        { tools: [controlled.tool], inputs: { l: [1, 2, 3] }, session: { given: 1 } },
      );
      await run.advance(0);
      expect([controlled.calls.length, reads.count]).to.deep.equal([3, 1]);
      for (const pending of controlled.calls.slice()) await controlled.returns(null, pending);
      await run.advance(0);
      expect([controlled.calls.length, reads.count]).to.deep.equal([6, 2]);
      expect(await controlled.last.context.blackboard.getAll()).to.deep.include({ k: 1, given: 1 });
    } finally {
      reads.restore();
    }
  });
});
