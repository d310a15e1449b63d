import { expect } from 'chai';
import { TaskPools } from '../../../../lib/common/scheduling/task-pools.js';
import { defineTool } from '../../../../lib/tools/tool.js';
import { ControlledTool } from '../../../support/controlled-tool.js';
import { settle } from '../../../support/deferred.js';
import { countTurns, endSlice, holdSlices } from '../../../support/slices.js';
import { startRun, type TestRun, type TestRunOptions } from '../../../support/runs/start-run.js';

describe('A pool (D81)', () => {
  let controlled: ControlledTool;
  let pools: TaskPools;

  beforeEach(() => {
    // Items that begin in a later slice come after other tasks.
    holdSlices();
    controlled = new ControlledTool();
    pools = new TaskPools(new Map([['erp', 1]]));
  });

  function start(tasks: string, { executor, ...options }: TestRunOptions = {}): Promise<TestRun> {
    return startRun(tasks, { tools: [controlled.tool], executor: { pools, ...executor }, ...options });
  }

  function expectUse(inUse: number, waiting: number): void {
    const pool = pools.get('erp');
    expect([pool?.inUse, pool?.waiting]).to.deep.equal([inUse, waiting]);
  }

  const CALL = 'tool: controlled, pool: erp';
  const FAN_OUT = `${CALL}, parallel_over: "{{pipeline.inputs.list}}", inputs: {x: "{{item}}"}`;
  const list = [0, 1, 2];

  it('lets no more calls be at work than it has places, of all tasks, items and runs together', async () => {
    await start(`{id: a, ${CALL}}`);
    await start(`{id: f, ${FAN_OUT}}, {id: b, ${CALL}}`, { inputs: { list } });
    expect(controlled.order).to.deep.equal(['a']);
    expectUse(1, 4);
    const order = ['a', 'f[0]', 'f[1]', 'f[2]', 'b'];
    for (let calls = 1; calls < order.length; calls++) {
      await controlled.returns(calls);
      expect(controlled.order).to.deep.equal(order.slice(0, calls + 1));
    }
    await controlled.returns('last');
    expectUse(0, 0);
  });

  it('holds up no task without it', async () => {
    await start(`{id: a, ${CALL}}, {id: b, ${CALL}}, {id: c, tool: controlled}`);
    expect(controlled.order).to.deep.equal(['a', 'c']);
  });

  it('lets tenants take turns', async () => {
    await start(`{id: a1, ${CALL}}, {id: a2, ${CALL}}, {id: a3, ${CALL}}`);
    await start(`{id: b1, ${CALL}}`, { tenant_id: 'b' });
    for (let calls = 1; calls < 4; calls++) await controlled.returns(calls);
    expect(controlled.order).to.deep.equal(['a1', 'a2', 'b1', 'a3']);
  });

  it('does not count the wait as time of the task', async () => {
    const holder = await start(`{id: a, ${CALL}}`);
    const waiting = await start(`{id: b, ${CALL}, timeout: 1}`);
    await waiting.advance(60_000);
    expect(waiting.record().status).to.equal('running');
    await controlled.returns(1);
    expect(holder.record().status).to.equal('succeeded');
    await waiting.advance(999);
    expect(waiting.record().status).to.equal('running');
    await waiting.advance(1);
    expect(waiting.record()).to.include({ status: 'failed', error: 'timed out after 1 s' });
    expectUse(0, 0);
  });

  it('gets the place back while a call waits for its retry', async () => {
    const retried = await start(`{id: a, ${CALL}, retry: 1, retry_delay: 1}`);
    await start(`{id: b, ${CALL}}`);
    await controlled.rejects(new Error('busy'));
    expect(controlled.order).to.deep.equal(['a', 'b']);
    await retried.advance(1000);
    expectUse(1, 1);
    await controlled.returns('b');
    expect(controlled.order).to.deep.equal(['a', 'b', 'a']);
    await controlled.returns('a');
    expect(retried.record().result?.outputs).to.deep.equal({ a: 'a' });
  });

  it('counts an invocation when it begins, and not one that never did (D20)', async () => {
    await start(`{id: a, ${CALL}}`);
    const waiting = await start(`{id: b, ${CALL}}`);
    expect(waiting.record().progress.invocations).to.equal(0);
    await controlled.returns(1);
    expect(waiting.record().progress.invocations).to.equal(1);
  });

  it('says once for a task, however many items wait, what it waits for', async () => {
    const run = await start(`{id: f, ${FAN_OUT}}, {id: g, tool: mock}`, { inputs: { list } });
    const logged = run.events.flatMap((event) => (event.kind === 'log' ? [event] : []));
    expect(logged.map(({ task_id, message }) => [task_id, message])).to.deep.equal([
      ['f', 'waits for a place in pool "erp"'],
    ]);
  });

  it('is left at once by calls whose run is cancelled, which fail in words, while calls at work go on (D21)', async () => {
    const run = await start(`{id: f, ${FAN_OUT}}`, { inputs: { list } });
    const other = await start(`{id: b, ${CALL}}`);
    await run.executor.cancel(run.runId);
    await settle();
    expectUse(1, 1);
    expect(run.record()).to.include({ status: 'cancelled', settled: false });
    await controlled.returns('f[0]');
    expect(run.record()).to.include({ status: 'cancelled', settled: true });
    const errors = run.record().failures.map(({ item, error, attempts }) => [item, error, attempts]);
    const error = 'cancelled before it had a place in pool "erp"';
    expect(errors).to.deep.equal([
      [1, error, 0],
      [2, error, 0],
    ]);
    expect(controlled.order).to.deep.equal(['f[0]', 'b']);
    expect(other.record().status).to.equal('running');
  });

  it('is not waited for by calls that come after the cancel', async () => {
    await start(`{id: a, ${CALL}}`);
    const run = await start(
      `{id: f, ${FAN_OUT}, fan_out_concurrency: 1, on_item_error: collect}, {id: g, tool: controlled}`,
      { inputs: { list } },
    );
    await run.executor.cancel(run.runId);
    await settle();
    expectUse(1, 0);
    await controlled.returns('g');
    expect(run.record()).to.include({ settled: true });
  });

  for (const [how, end] of [
    ['stopped by force', (run: TestRun) => run.executor.cancel(run.runId, { force: true })],
    ['dropped', async (run: TestRun) => run.executor.forget(run.runId)],
  ] as const) {
    it(`is left at once by all calls of a run that is ${how}`, async () => {
      const run = await start(`{id: f, ${FAN_OUT}, retry: 2}`, { inputs: { list } });
      const other = await start(`{id: b, ${CALL}}`);
      await end(run);
      await settle();
      expectUse(1, 0);
      expect(controlled.order).to.deep.equal(['f[0]', 'b']);
      await controlled.returns('b');
      expect(other.record().status).to.equal('succeeded');
      expectUse(0, 0);
    });
  }

  it('that is not there fails the call, and names those that are', async () => {
    const run = await start('{id: a, tool: controlled, pool: gpu, retry: 2}');
    expect(run.record()).to.include({
      status: 'failed',
      error: 'there is no pool "gpu": SERVICE_POOLS sets "erp"',
    });
    expect(controlled.calls).to.deep.equal([]);
  });

  it('serves 20,000 calls that end at once, beside the timers of the process', async () => {
    let calls = 0;
    const breaks = defineTool({
      name: 'breaks',
      description: 'fails at once',
      inputs: {},
      openInputs: true,
      run: () => {
        if (++calls % 500 === 0) endSlice();
        throw new Error('broke');
      },
    });
    const turns = countTurns();
    const run = await startRun(
      '{id: f, tool: breaks, pool: erp, on_item_error: collect, parallel_over: "{{pipeline.inputs.list}}", inputs: {n: "{{item}}"}}',
      {
        tools: [breaks],
        executor: { pools },
        inputs: { list: Array.from({ length: 20_000 }, (_, at) => at) },
        silent: true,
      },
    );
    await run.executor.getRun(run.runId).settled;
    turns.stop();
    expect(turns.count).to.be.at.least(20_000 / 500);
    expectUse(0, 0);
  });
});

describe('A pipeline inside a task with a pool (D81)', () => {
  const inner = (pool: string): string =>
    `{id: outer, tool: own, pool: erp, inputs: {pipeline: {id: inner, goal: g, tasks: [{id: a, tool: mock${pool}}]}}}`;

  async function runInner(pool: string): Promise<TestRun> {
    const own = defineTool({
      name: 'own',
      description: 'runs a pipeline that no check has seen',
      inputs: { pipeline: { description: 'as written', verbatim: true } },
      run: ({ pipeline }, context) => context.runPipeline({ pipeline: pipeline as never }),
    });
    const places = new Map([
      ['erp', 1],
      ['gpu', 1],
    ]);
    return startRun(inner(pool), { tools: [own], executor: { pools: places } });
  }

  it('runs in the place of that task', async () => {
    expect((await runInner('')).record().status).to.equal('succeeded');
  });

  for (const pool of ['erp', 'gpu']) {
    it(`fails before any of its tasks has begun when one has the pool ${pool}: it could wait for itself, or for each other`, async () => {
      const run = await runInner(`, pool: ${pool}`);
      expect(run.record().error).to.equal(
        'pipeline "inner" runs in a place of pool "erp", so that its task "a" cannot have a pool',
      );
    });
  }
});
