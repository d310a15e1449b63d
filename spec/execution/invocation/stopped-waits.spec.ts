import { expect } from 'chai';
import { ToolError } from '../../../lib/common/errors.js';
import { defineTool, type Tool, type ToolContext } from '../../../lib/tools/tool.js';
import { ConcurrencyLimiter } from '../../../lib/common/scheduling/concurrency-limiter.js';
import { RateLimiter } from '../../../lib/common/scheduling/rate-limiter.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { deferred, settle } from '../../support/deferred.js';
import { startRun, type TestRun } from '../../support/runs/start-run.js';

const defineWaiting = (run: (context: ToolContext) => Promise<unknown>): Tool =>
  defineTool({ name: 'waiting', description: 'waits', inputs: {}, run: (_, context) => run(context) });

/** Cancels by force, without any time passing, and expects the run to have settled. */
async function expectStopped(run: TestRun): Promise<void> {
  const before = run.clock.monotonicNow();
  await run.executor.cancel(run.runId, { force: true });
  await settle();
  expect(run.record()).to.include({ status: 'cancelled', settled: true });
  expect(run.clock.monotonicNow()).to.equal(before);
  expect(run.clock.pending).to.equal(0);
}

describe('A forced cancel ends at once (D21)', () => {
  it('the wait for a retry that a server has asked for (D62)', async () => {
    const controlled = new ControlledTool();
    const run = await startRun('{id: a, tool: controlled, retry: 3}', { tools: [controlled.tool] });
    await controlled.rejects(new ToolError('too many requests', { retryAfterMs: 45_000 }));
    expect(run.record().status).to.equal('running');
    await expectStopped(run);
    run.clock.advance(60_000);
    await settle();
    expect(controlled.calls).to.have.length(1);
  });

  it('the wait for a turn in the rate of a source, of everybody who waits', async () => {
    const rate = new RateLimiter(1 / 60);
    const sent: number[] = [];
    const tool = defineWaiting(async (context) => {
      await rate.wait(context);
      sent.push(context.clock.monotonicNow());
    });
    const tasks = ['a', 'b', 'c'].map((id) => `{id: ${id}, tool: waiting}`).join(', ');
    const run = await startRun(tasks, { tools: [tool] });
    expect(sent).to.deep.equal([0]);
    await expectStopped(run);
    run.clock.advance(60_000);
    await settle();
    expect(sent).to.deep.equal([0]);
    // A call that comes later does not wait for calls that have left.
    const next = await startRun('{id: a, tool: waiting}', { tools: [tool], executor: { clock: run.clock } });
    expect(next.record().status).to.equal('succeeded');
  });

  it('the wait at a limiter, and leaves the place to others', async () => {
    const limiter = new ConcurrencyLimiter({ total: 1 });
    const work = deferred<string>();
    const holder = limiter.run(
      { tenant_id: 'other', signal: new AbortController().signal, pauseTimeout: () => () => undefined },
      () => work.promise,
    );
    const entered: string[] = [];
    const tool = defineWaiting((context) => limiter.run(context, async () => entered.push('in')));
    const run = await startRun('{id: a, tool: waiting}', { tools: [tool] });
    await expectStopped(run);
    work.resolve('done');
    expect(await holder).to.equal('done');
    await settle();
    expect(entered).to.deep.equal([]);
    const next = await startRun('{id: a, tool: waiting}', { tools: [tool] });
    expect(next.record().status).to.equal('succeeded');
  });
});
