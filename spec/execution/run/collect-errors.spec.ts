import { expect } from 'chai';
import { TaskFailedError } from '../../../lib/common/errors.js';
import type { JsonObject } from '../../../lib/common/json/json.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { catchRejection } from '../../support/rejection.js';
import { startRun, type TestRun, type TestRunOptions } from '../../support/runs/start-run.js';
import { PooledRuns } from '../memory/pooled-runs.js';

const COLLECT =
  'tool: controlled, on_item_error: collect, parallel_over: "{{pipeline.inputs.list}}", inputs: {x: "{{item}}"}';

interface FanOut {
  readonly run: TestRun;
  readonly controlled: ControlledTool;
}

/** Starts a run whose first task `f` collects the errors of its items. */
async function startFanOut(
  items: number,
  { more = '', ...options }: TestRunOptions & { more?: string } = {},
): Promise<FanOut> {
  const controlled = new ControlledTool();
  const list = Array.from({ length: items }, (_, index) => index);
  const run = await startRun(`{id: f, ${COLLECT}}${more}`, {
    tools: [controlled.tool],
    ...options,
    inputs: { list },
  });
  return { run, controlled };
}

function getOutputs({ run }: FanOut): JsonObject | undefined {
  return run.record().result?.outputs;
}

describe('on_item_error: collect (D67)', () => {
  it('puts {error} in the place of a failed item, and goes on', async () => {
    const fanOut = await startFanOut(4, {
      options: { fan_out_concurrency: 1 },
      more: ', {id: after, tool: mock, inputs: {all: "{{f.output}}"}}',
    });
    const { controlled } = fanOut;
    await controlled.returns('a');
    await controlled.rejects(new Error('no luck'));
    await controlled.returns('c');
    await controlled.rejects('gone');
    const all = ['a', { error: 'no luck' }, 'c', { error: 'gone' }];
    expect(getOutputs(fanOut)?.['f']).to.deep.equal(all);
    expect(getOutputs(fanOut)?.['after']).to.deep.include({ inputs: { all } });
  });

  it('lists the failed items in the record and counts them in the events of a run that succeeds', async () => {
    const { run, controlled } = await startFanOut(3, { collect_events: true });
    await controlled.rejects(new Error('no luck'), controlled.calls[1]);
    await controlled.returns('c', controlled.calls[2]);
    await controlled.returns('a', controlled.calls[0]);
    expect(run.record()).to.deep.include({
      status: 'succeeded',
      error: null,
      failures: [{ task_id: 'f', error: 'no luck', attempts: 1, item: 1, collected: true }],
    });
    expect(run.record().events?.at(-1)).to.deep.include({ kind: 'finish', items: 3, failed_items: 1 });
    const failed = run.events.filter((event) => event.kind === 'item' && event.phase === 'fail');
    expect(failed).to.have.length(1);
  });

  it('says nothing of failed items when there are none', async () => {
    const { run, controlled } = await startFanOut(1, { collect_events: true });
    await controlled.returns('a');
    expect(run.record().failures).to.deep.equal([]);
    expect(run.record().events?.at(-1)).to.not.have.property('failed_items');
  });

  it('fails when no item succeeded, with a failure of the task itself', async () => {
    const { run, controlled } = await startFanOut(2);
    await controlled.rejects(new Error('second'), controlled.calls[1]);
    await controlled.rejects(new Error('first'), controlled.calls[0]);
    expect(run.record()).to.deep.include({
      status: 'failed',
      error: 'no item succeeded: second',
      failures: [
        { task_id: 'f', error: 'second', attempts: 1, item: 1, collected: true },
        { task_id: 'f', error: 'first', attempts: 1, item: 0, collected: true },
        { task_id: 'f', error: 'no item succeeded: second', attempts: 2 },
      ],
    });
  });

  it('gives [] for an empty list (D6)', async () => {
    const fanOut = await startFanOut(0);
    expect(getOutputs(fanOut)).to.deep.equal({ f: [] });
  });

  it('collects an item whose inputs cannot be rendered, and one whose attempts have all failed', async () => {
    const controlled = new ControlledTool();
    const run = await startRun(
      '{id: f, tool: controlled, retry: 1, on_item_error: collect, parallel_over: "{{pipeline.inputs.list}}", inputs: {x: "{{item.x}}"}}',
      { tools: [controlled.tool], inputs: { list: [{ y: 1 }, { x: 1 }, { x: 2 }] } },
    );
    await controlled.rejects(new Error('again'), controlled.calls[0]);
    await controlled.returns('two', controlled.calls[1]);
    await run.advance(500);
    await controlled.rejects(new Error('still'));
    const [first, ...others] = run.record().result?.outputs?.['f'] as JsonObject[];
    expect(first?.['error']).to.match(/item\.x/);
    expect(others).to.deep.equal([{ error: 'still' }, 'two']);
    expect(run.record().failures.map(({ attempts }) => attempts)).to.deep.equal([0, 2]);
  });

  it('writes what the succeeded items stored, in item order (D23)', async () => {
    const fanOut = await startFanOut(3, {
      more: ', {id: r, tool: mock, await: [f], inputs: {all: "{{session.k}}"}}',
    });
    const { calls } = fanOut.controlled;
    for (const [index, call] of calls.entries()) call.context.blackboard.write('k', index, true);
    await fanOut.controlled.returns(null, calls[2]);
    await fanOut.controlled.rejects(new Error('no luck'), calls[1]);
    await fanOut.controlled.returns(null, calls[0]);
    expect(getOutputs(fanOut)?.['r']).to.deep.include({ inputs: { all: [0, 2] } });
  });

  it('is no reason of a failed run: its error is that of the task that failed it (D16)', async () => {
    const { run, controlled } = await startFanOut(2, { more: ', {id: b, tool: controlled}' });
    const [first, second, other] = controlled.calls;
    await controlled.rejects(new Error('collected'), first);
    await controlled.rejects(new Error('fatal'), other);
    await controlled.returns('fine', second);
    expect(run.record()).to.deep.include({ status: 'failed', error: 'fatal' });
    const error = await catchRejection(run.executor.getResult(run.runId));
    expect(error).to.be.instanceOf(TaskFailedError);
    expect(error).to.deep.include({ task_id: 'b', error: 'fatal', message: 'task "b" failed: fatal' });
  });

  it('aborts its items when the run is cancelled by force (D21)', async () => {
    const { run, controlled } = await startFanOut(5, { options: { fan_out_concurrency: 2 } });
    await controlled.rejects(new Error('no luck'), controlled.calls[0]);
    await run.executor.cancel(run.runId, { force: true });
    expect(run.record()).to.deep.include({ status: 'cancelled', settled: true });
    expect(controlled.order).to.deep.equal(['f[0]', 'f[1]', 'f[2]']);
  });

  it('lets no item start after one whose error has no room in the memory of the run (D25)', async () => {
    const runs = new PooledRuns({ total: 256 * 1024 });
    const list = Array.from({ length: 5000 }, () => 1);
    const runId = await runs.submit(`{id: f, fan_out_concurrency: 1, ${COLLECT}}`, { inputs: { list } });
    const calls = (): number => runs.controlled.calls.length;
    for (let before = -1; before < calls(); ) {
      before = calls();
      await runs.controlled.rejects(new Error('no luck'));
    }
    const { failures, status, error } = runs.registry.record(runId);
    expect(status).to.equal('failed');
    expect(failures.length).to.be.within(20, 1000);
    expect(failures.at(-1)).to.not.have.property('collected');
    expect(error).to.match(/no memory left/);
    runs.registry.forget(runId);
    expect(runs.memory.usedBytes).to.equal(0);
  });

  it('reads the stacks of a few errors only, because reading one takes longer than its item', async () => {
    const { run, controlled } = await startFanOut(1000);
    let reads = 0;
    for (const call of await controlled.started(1000)) {
      const error = Object.defineProperty(new Error('no luck'), 'stack', {
        get: () => `read ${++reads} times`,
      });
      call.reject(error);
    }
    await catchRejection(run.executor.getResult(run.runId));
    expect(run.record().failures).to.have.length(1001);
    expect(reads).to.be.within(10, 200);
  });

  it('takes memory for each error, and returns it when the run is forgotten (D25)', async () => {
    const runs = new PooledRuns({ total: 2 ** 24 });
    const list = Array.from({ length: 100 }, () => 1);
    const runId = await runs.submit(`{id: f, ${COLLECT}}`, { inputs: { list } });
    const [first, ...others] = await runs.controlled.started(100);
    await runs.controlled.returns(null, first);
    for (const call of others) await runs.controlled.rejects(new Error('x'.repeat(1000)), call);
    expect(runs.registry.record(runId).status).to.equal('succeeded');
    expect(runs.memory.usedBytes).to.be.above(99 * 2000);
    runs.registry.forget(runId);
    expect(runs.memory.usedBytes).to.equal(0);
  });
});

describe('fan_out_concurrency of a task (D66)', () => {
  it('limits the items in flight of that task, whatever the options say', async () => {
    const controlled = new ControlledTool();
    const fanOut = 'tool: controlled, parallel_over: "{{pipeline.inputs.list}}", inputs: {x: "{{item}}"}';
    const run = await startRun(`{id: f, ${fanOut}}, {id: g, fan_out_concurrency: 2, ${fanOut}}`, {
      tools: [controlled.tool],
      options: { fan_out_concurrency: 1 },
      inputs: { list: [1, 2, 3] },
    });
    expect(run.record().status).to.equal('running');
    expect(controlled.order).to.deep.equal(['f[0]', 'g[0]', 'g[1]']);
  });
});
