import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { MemoryBlackboard } from '../../../lib/execution/session/memory-blackboard.js';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import type { Json } from '../../../lib/common/json/json.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { RunRegistry } from '../../../lib/runs/registry.js';
import type { RegistryOptions } from '../../../lib/runs/registry-options.js';
import { deferred, settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { catchRejection } from '../../support/rejection.js';
import { ControlledRuns } from '../controlled-runs.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Submits a run, ends it as the caller asks, and returns a weak reference to its pipeline. */
async function runAndEnd(
  registry: RunRegistry,
  end: (runId: string, controlled: ControlledTool) => Promise<void>,
) {
  const controlled = new ControlledTool();
  const pipeline = parsePipeline('{id: p, goal: g, tasks: [{id: a, tool: controlled}]}', {
    tools: [controlled.tool],
  });
  const idempotency = { key: 'k', fingerprint: 'f' };
  const runId = await registry.submit({ pipeline }, { idempotency, onEvent: () => undefined });
  await settle();
  await end(runId, controlled);
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

async function succeed(runId: string, controlled: ControlledTool, registry: RunRegistry): Promise<void> {
  controlled.last.resolve('done');
  await registry.settled(runId);
}

function createRegistry(options: RegistryOptions = {}): { registry: RunRegistry; clock: ManualClock } {
  const clock = new ManualClock();
  return {
    clock,
    registry: new RunRegistry({ clock, eventBuffer: 10, onEvent: () => undefined, ...options }),
  };
}

describe('RunRegistry: forgetting a run', () => {
  it('leaves no reference to a settled run', async () => {
    const { registry } = createRegistry();
    const kept = await runAndEnd(registry, (runId, controlled) => succeed(runId, controlled, registry));
    expect(await isCollected(kept)).to.equal(false);
    const left = await runAndEnd(registry, async (runId, controlled) => {
      registry.forget(runId);
      await controlled.returns('late').catch(() => undefined);
    });
    expect(registry.list({ limit: 10 }).runs).to.have.length(0);
    expect(await isCollected(kept)).to.equal(true);
    expect(await isCollected(left)).to.equal(true);
  });

  it('leaves no reference to a run that was forgotten while running', async () => {
    const { registry } = createRegistry();
    const left = await runAndEnd(registry, async (runId) => registry.forget(runId));
    expect(await isCollected(left)).to.equal(true);
  });

  it('leaves no reference to a run that was queued, cancelled by close, or expired', async () => {
    const { registry } = createRegistry({ admission: { maxRunning: 0, maxQueued: 10 } });
    const waiting = await runAndEnd(registry, async (runId) => registry.forget(runId));
    expect(await isCollected(waiting)).to.equal(true);
    expect(registry.queries.load).to.deep.equal({ queued: 0, running: 0 });
    const cancelled = await runAndEnd(registry, async (runId) => {
      await registry.close(1000);
      registry.forget(runId);
    });
    expect(await isCollected(cancelled)).to.equal(true);

    const old = createRegistry({ retention: { maxRuns: 10, ttlMs: 1000 } });
    const tooOld = await runAndEnd(old.registry, async (runId, controlled) => {
      await succeed(runId, controlled, old.registry);
      old.clock.advance(1000);
      await old.registry.queries.countByStatus();
    });
    expect(await isCollected(tooOld)).to.equal(true);
  });

  it('leaves no reference to a run that was rerun', async () => {
    const fixture = new ControlledRuns();
    const first = await fixture.submit();
    const log = new WeakRef(fixture.registry.queries.events(first));
    await fixture.complete(first);
    await fixture.registry.rerun(first, { from: 'a' });
    await fixture.waitUntilIdle();
    fixture.registry.forget(first);
    expect(await isCollected(log)).to.equal(true);
    expect(fixture.registry.list({ limit: 10 }).runs).to.have.length(1);
  });

  it('removes settled runs only (D35)', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 1, maxQueued: 1 } });
    const [first = '', second = ''] = await fixture.submitAll(['a', 'a']);
    const remove = (runId: string) => () => fixture.registry.remove(runId);
    expect(remove(second)).to.throw('is still queued').with.property('code', 'run_not_settled');
    await fixture.registry.cancel(first);
    expect(remove(first)).to.throw('still has tasks running').with.property('code', 'run_not_settled');
    await fixture.complete(first);
    remove(first)();
    expect(remove(first)).to.throw('there is no run').with.property('code', 'run_not_found');
    expect(fixture.registry.list({ limit: 10 }).runs).to.have.length(1);
  });

  it('never starts a forgotten run whose blackboard opens later', async () => {
    const opened = deferred<Record<string, Json>>();
    const blackboard = new MemoryBlackboard();
    blackboard.getAll = () => opened.promise;
    const executor = new LocalExecutor({ blackboard, clock: new ManualClock() });
    const run = executor.createRun({ pipeline: new ControlledRuns().pipeline });
    const begun = run.begin();
    executor.forget(run.id);
    opened.resolve({});
    await begun;
    expect([run.startedAt, run.progress.invocations]).to.deep.equal([null, 0]);
  });

  it('rejects settled(), aborts the tools and closes the event log of a forgotten run', async () => {
    const fixture = new ControlledRuns();
    const runId = await fixture.submit();
    const settled = catchRejection(fixture.registry.settled(runId));
    const log = fixture.registry.queries.events(runId);
    const { signal } = fixture.findCall(runId).context;
    fixture.registry.forget(runId);
    expect(await settled).to.include({ code: 'run_not_found' });
    await fixture.waitUntilIdle();
    expect([signal.aborted, log.isClosed]).to.deep.equal([true, true]);
    fixture.registry.forget(runId);
    fixture.registry.forget('nothing');
    expect(fixture.registry.queries.load).to.deep.equal({ queued: 0, running: 0 });
  });
});
