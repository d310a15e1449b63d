import { expect } from 'chai';
import { MemoryBlackboard } from '../../lib/blackboard/memory-blackboard.js';
import type { Json } from '../../lib/common/json.js';
import { settle } from '../support/deferred.js';
import { catchRejection } from '../support/rejection.js';
import { HeldRuns, exhaustEventLoopBudget } from './held-runs.js';

async function closing(graceMs = 5000) {
  const held = new HeldRuns({ admission: { maxRunning: 2, maxQueued: 10 } });
  const ids = await held.submitAll(['a', 'a', 'a', 'b']);
  let isClosed = false;
  const closed = held.registry.close(graceMs).then(() => {
    isClosed = true;
  });
  await held.filled();
  return { held, ids, closed, isClosed: () => isClosed };
}

describe('RunRegistry.close', () => {
  it('cancels queued runs, waits for running ones, and rejects new submissions', async () => {
    const { held, ids, closed, isClosed } = await closing();
    const [first = '', second = '', third = '', fourth = ''] = ids;
    expect(ids.map((id) => held.statusOf(id))).to.deep.equal([
      'running',
      'running',
      'cancelled',
      'cancelled',
    ]);
    expect(await catchRejection(held.submit())).to.include({ code: 'shutting_down', fault: 'service' });
    expect(await catchRejection(held.registry.rerun(third))).to.include({ code: 'shutting_down' });
    await held.end(first);
    expect(isClosed()).to.equal(false);
    await held.end(second);
    await closed;
    expect(held.begun).to.deep.equal([first, second]);
    expect(held.statusOf(fourth)).to.equal('cancelled');
    expect(held.registry.load).to.deep.equal({ running: 0, queued: 0 });
    expect(held.clock.pending).to.equal(0);
  });

  it('aborts running tools when the grace period ends', async () => {
    const { held, ids, closed, isClosed } = await closing();
    const [first = '', second = ''] = ids;
    await held.end(first);
    held.clock.advance(4999);
    await settle();
    expect([isClosed(), held.statusOf(second)]).to.deep.equal([false, 'running']);
    const { signal } = held.callOf(second).context;
    held.clock.advance(1);
    await closed;
    expect([signal.aborted, held.statusOf(second)]).to.deep.equal([true, 'cancelled']);
    expect(held.registry.record(second).settled).to.equal(true);
    expect(held.statusOf(first)).to.equal('succeeded');
  });

  it('waits for the last wave of a run that was already cancelled', async () => {
    const held = new HeldRuns();
    const runId = await held.submit();
    await held.registry.cancel(runId);
    let isClosed = false;
    const closed = held.registry.close(5000).then(() => {
      isClosed = true;
    });
    await settle();
    expect(isClosed).to.equal(false);
    await held.end(runId);
    await closed;
  });

  it('resolves while a run still opens its blackboard or waits for the event loop', async () => {
    const blackboard = new MemoryBlackboard();
    blackboard.getAll = () => new Promise<Record<string, Json>>(() => {});
    const held = new HeldRuns({ blackboard });
    const opening = await held.submit();
    expect(held.registry.load).to.deep.equal({ running: 1, queued: 0 });
    exhaustEventLoopBudget();
    const waiting = await held.registry.submit({ pipeline: held.pipeline });
    const closed = held.registry.close(10);
    held.clock.advance(10);
    await closed;
    await held.filled();
    expect([opening, waiting].map((id) => held.statusOf(id))).to.deep.equal(['cancelled', 'cancelled']);
    expect([held.begun, held.registry.load]).to.deep.equal([[], { running: 0, queued: 0 }]);
  });

  it('resolves at once when no run is running, also when called again', async () => {
    const held = new HeldRuns();
    const runId = await held.submit();
    await held.end(runId);
    await held.registry.close(5000);
    await held.registry.close(5000);
    expect(held.clock.pending).to.equal(0);
    expect(held.statusOf(runId)).to.equal('succeeded');
    expect(await held.registry.settled(runId)).to.include({ status: 'succeeded' });
  });

  it('returns the earlier run for a repeated submission although it rejects new ones (D36)', async () => {
    const held = new HeldRuns();
    const idempotency = { key: 'k', fingerprint: 'f' };
    const runId = await held.submit('a', { idempotency });
    const closed = held.registry.close(5000);
    expect(await held.submit('a', { idempotency })).to.equal(runId);
    await held.end(runId);
    await closed;
  });
});
