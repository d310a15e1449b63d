import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { MemoryBlackboard } from '../../../lib/blackboard/memory.js';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import type { Json } from '../../../lib/common/json.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { type RegistryOptions, RunRegistry } from '../../../lib/runs/registry.js';
import { deferred, settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';
import { Puppet } from '../../support/puppet.js';
import { rejectionOf } from '../../support/rejection.js';
import { HeldRuns } from '../held-runs.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Submits a run whose pipeline nobody else holds, lets it come to its end, and answers a weak hold on it. */
async function leave(registry: RunRegistry, end: (runId: string, puppet: Puppet) => Promise<void>) {
  const puppet = new Puppet();
  const pipeline = parsePipeline('{id: p, goal: g, tasks: [{id: a, tool: puppet}]}', {
    tools: [puppet.tool],
  });
  const idempotency = { key: 'k', fingerprint: 'f' };
  const runId = await registry.submit({ pipeline }, { idempotency, onEvent: () => undefined });
  await settle();
  await end(runId, puppet);
  await settle();
  return new WeakRef(pipeline);
}

async function isCollected(weak: WeakRef<object>): Promise<boolean> {
  for (let round = 0; round < 10 && weak.deref() !== undefined; round++) {
    await settle();
    collectGarbage();
  }
  return weak.deref() === undefined;
}

async function succeed(runId: string, puppet: Puppet, registry: RunRegistry): Promise<void> {
  puppet.last.resolve('done');
  await registry.settled(runId);
}

function registryOf(options: RegistryOptions = {}): { registry: RunRegistry; clock: ManualClock } {
  const clock = new ManualClock();
  return {
    clock,
    registry: new RunRegistry({ clock, eventBuffer: 10, onEvent: () => undefined, ...options }),
  };
}

describe('a run that is forgotten', () => {
  it('is kept by nothing, once it has settled', async () => {
    const { registry } = registryOf();
    const kept = await leave(registry, (runId, puppet) => succeed(runId, puppet, registry));
    expect(await isCollected(kept)).to.equal(false);
    const left = await leave(registry, async (runId, puppet) => {
      expect(registry.submitted('default', { key: 'k', fingerprint: 'f' })).to.be.a('string');
      registry.forget(runId);
      await puppet.returns('late').catch(() => undefined);
    });
    expect(registry.list({ limit: 10 }).runs).to.have.length(0);
    expect(await isCollected(kept)).to.equal(true);
    expect(await isCollected(left)).to.equal(true);
  });

  it('is kept by nothing, when it was stopped at work', async () => {
    const { registry } = registryOf();
    const left = await leave(registry, async (runId) => registry.forget(runId));
    expect(await isCollected(left)).to.equal(true);
  });

  it('is kept by nothing, when it still waited, was closed, or is too old', async () => {
    const { registry } = registryOf({ admission: { maxRunning: 0, maxQueued: 10 } });
    const waiting = await leave(registry, async (runId) => registry.forget(runId));
    expect(await isCollected(waiting)).to.equal(true);
    expect(registry.load).to.deep.equal({ queued: 0, running: 0 });
    const cancelled = await leave(registry, async (runId) => {
      await registry.close(1000);
      registry.forget(runId);
    });
    expect(await isCollected(cancelled)).to.equal(true);

    const old = registryOf({ retention: { keep: 10, ttlMs: 1000, events: 100 } });
    const tooOld = await leave(old.registry, async (runId, puppet) => {
      await succeed(runId, puppet, old.registry);
      old.clock.advance(1000);
      old.registry.statuses();
    });
    expect(await isCollected(tooOld)).to.equal(true);
  });

  it('is not kept by a run that was made of it', async () => {
    const held = new HeldRuns();
    const first = await held.submit();
    const log = new WeakRef(held.registry.events(first));
    await held.end(first);
    await held.registry.rerun(first, 'a');
    await held.filled();
    held.registry.forget(first);
    expect(await isCollected(log)).to.equal(true);
    expect(held.registry.list({ limit: 10 }).runs).to.have.length(1);
  });

  it('was settled when it is removed (D35)', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 1 } });
    const [first = '', second = ''] = await held.submitAll(['a', 'a']);
    const remove = (runId: string) => () => held.registry.remove(runId);
    expect(remove(second)).to.throw('waits to begin').with.property('code', 'run_not_settled');
    await held.registry.cancel(first);
    expect(remove(first)).to.throw('is still at work').with.property('code', 'run_not_settled');
    await held.end(first);
    remove(first)();
    expect(remove(first)).to.throw('there is no run').with.property('code', 'run_not_found');
    expect(held.registry.list({ limit: 10 }).runs).to.have.length(1);
  });

  it('does not begin when its blackboard has been read at last', async () => {
    const opened = deferred<Record<string, Json>>();
    const blackboard = new MemoryBlackboard();
    blackboard.get_all = () => opened.promise;
    const executor = new LocalExecutor({ blackboard, clock: new ManualClock() });
    const run = executor.accept({ pipeline: new HeldRuns().pipeline });
    const begun = run.begin();
    executor.forget(run.id);
    opened.resolve({});
    await begun;
    expect([run.startedAt, run.invocations]).to.deep.equal([null, 0]);
  });

  it('is no longer to be had, and nobody waits for it in vain', async () => {
    const held = new HeldRuns();
    const runId = await held.submit();
    const settled = rejectionOf(held.registry.settled(runId));
    const log = held.registry.events(runId);
    const { signal } = held.callOf(runId).context;
    held.registry.forget(runId);
    expect(await settled).to.include({ code: 'run_not_found' });
    await held.filled();
    expect([signal.aborted, log.isClosed]).to.deep.equal([true, true]);
    held.registry.forget(runId);
    held.registry.forget('nothing');
    expect(held.registry.load).to.deep.equal({ queued: 0, running: 0 });
  });
});
