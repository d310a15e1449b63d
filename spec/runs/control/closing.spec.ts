import { expect } from 'chai';
import { MemoryBlackboard } from '../../../lib/execution/session/memory-blackboard.js';
import type { Json } from '../../../lib/common/json/json.js';
import { settle } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';
import { ControlledRuns, exhaustEventLoopBudget } from '../controlled-runs.js';

async function closing(graceMs = 5000) {
  const fixture = new ControlledRuns({ admission: { maxRunning: 2, maxQueued: 10 } });
  const ids = await fixture.submitAll(['a', 'a', 'a', 'b']);
  let isClosed = false;
  const closed = fixture.registry.close(graceMs).then(() => {
    isClosed = true;
  });
  await fixture.waitUntilIdle();
  return { fixture, ids, closed, isClosed: () => isClosed };
}

describe('RunRegistry.close', () => {
  it('cancels queued runs, waits for running ones, and rejects new submissions', async () => {
    const { fixture, ids, closed, isClosed } = await closing();
    const [first = '', second = '', third = '', fourth = ''] = ids;
    expect(ids.map((id) => fixture.getStatus(id))).to.deep.equal([
      'running',
      'running',
      'cancelled',
      'cancelled',
    ]);
    expect(await catchRejection(fixture.submit())).to.include({ code: 'shutting_down', fault: 'service' });
    expect(await catchRejection(fixture.registry.rerun(third))).to.include({ code: 'shutting_down' });
    await fixture.complete(first);
    expect(isClosed()).to.equal(false);
    await fixture.complete(second);
    await closed;
    expect(fixture.calledRunIds).to.deep.equal([first, second]);
    expect(fixture.getStatus(fourth)).to.equal('cancelled');
    expect(fixture.registry.queries.load).to.deep.equal({ running: 0, queued: 0 });
    expect(fixture.clock.pending).to.equal(0);
  });

  it('aborts running tools when the grace period ends', async () => {
    const { fixture, ids, closed, isClosed } = await closing();
    const [first = '', second = ''] = ids;
    await fixture.complete(first);
    fixture.clock.advance(4999);
    await settle();
    expect([isClosed(), fixture.getStatus(second)]).to.deep.equal([false, 'running']);
    const { signal } = fixture.findCall(second).context;
    fixture.clock.advance(1);
    await closed;
    expect([signal.aborted, fixture.getStatus(second)]).to.deep.equal([true, 'cancelled']);
    expect(fixture.registry.record(second).settled).to.equal(true);
    expect(fixture.getStatus(first)).to.equal('succeeded');
  });

  it('ends handlers that have begun after the grace period when it has passed again (D80)', async () => {
    const fixture = new ControlledRuns(
      {},
      'pipeline: {id: p, goal: g, tasks: [{id: a, tool: controlled}], finally: [{id: z, tool: controlled}]}',
    );
    const runId = await fixture.submit();
    const closed = fixture.registry.close(5000);
    fixture.clock.advance(5000);
    await settle();
    expect(fixture.controlled.order).to.deep.equal(['a', 'z']);
    expect(fixture.registry.record(runId)).to.include({ status: 'cancelled', settled: false });
    fixture.clock.advance(5000);
    await closed;
    expect(fixture.registry.record(runId).handler_failures).to.deep.equal([
      { task_id: 'z', error: 'stopped by force', attempts: 1 },
    ]);
    expect(fixture.clock.pending).to.equal(0);
  });

  it('waits for the last wave of a run that was already cancelled', async () => {
    const fixture = new ControlledRuns();
    const runId = await fixture.submit();
    await fixture.registry.cancel(runId);
    let isClosed = false;
    const closed = fixture.registry.close(5000).then(() => {
      isClosed = true;
    });
    await settle();
    expect(isClosed).to.equal(false);
    await fixture.complete(runId);
    await closed;
  });

  it('resolves while a run still opens its blackboard or waits for the event loop', async () => {
    const blackboard = new MemoryBlackboard();
    blackboard.getAll = () => new Promise<Record<string, Json>>(() => {});
    const fixture = new ControlledRuns({ blackboard });
    const opening = await fixture.submit();
    expect(fixture.registry.queries.load).to.deep.equal({ running: 1, queued: 0 });
    exhaustEventLoopBudget();
    const waiting = await fixture.registry.submit({ pipeline: fixture.pipeline });
    const closed = fixture.registry.close(10);
    fixture.clock.advance(10);
    await closed;
    await fixture.waitUntilIdle();
    expect([opening, waiting].map((id) => fixture.getStatus(id))).to.deep.equal(['cancelled', 'cancelled']);
    expect([fixture.calledRunIds, fixture.registry.queries.load]).to.deep.equal([
      [],
      { running: 0, queued: 0 },
    ]);
  });

  it('resolves at once when no run is running, also when called again', async () => {
    const fixture = new ControlledRuns();
    const runId = await fixture.submitAndComplete();
    await fixture.registry.close(5000);
    await fixture.registry.close(5000);
    expect(fixture.clock.pending).to.equal(0);
    expect(fixture.getStatus(runId)).to.equal('succeeded');
    expect(await fixture.registry.settled(runId)).to.include({ status: 'succeeded' });
  });

  it('returns the earlier run for a repeated submission although it rejects new ones (D36)', async () => {
    const fixture = new ControlledRuns();
    const idempotency = { key: 'k', fingerprint: 'f' };
    const runId = await fixture.submit('a', { idempotency });
    const closed = fixture.registry.close(5000);
    expect(await fixture.submit('a', { idempotency })).to.equal(runId);
    await fixture.complete(runId);
    await closed;
  });
});
