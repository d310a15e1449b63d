import { expect } from 'chai';
import { errorMessage } from '../../../lib/common/errors.js';
import { MemoryPool } from '../../../lib/common/memory/memory-pool.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import type { ReviveDefinition } from '../../../lib/runs/store/restore/stored-run-reader.js';
import { settle } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';
import { takeWarnings } from '../../support/warnings.js';
import { createDisk, type Disk } from './memory/memory-store.js';
import { StoredRuns } from './suites/stored-runs.js';

const DAY_MS = 86_400_000;
const KEY = { key: 'k', fingerprint: 'f' };
const TWO_TASKS =
  '{id: two, goal: g, tasks: [{id: a, tool: controlled}, {id: b, tool: controlled, await: [a]}]}';

describe('A registry that is restored from a store (D68)', () => {
  let disk: Disk;

  beforeEach(() => {
    disk = createDisk();
  });

  it('shows a settled run as it was, with its events', async () => {
    const first = new StoredRuns(disk);
    const runId = await first.submitAndComplete();
    await first.store.idle();
    const second = await new StoredRuns(disk).restore();
    await second.registry.queries.open(runId, null);
    expect(second.registry.record(runId)).to.deep.equal(first.registry.record(runId));
    const { events } = second.registry.queries.events(runId).readAfter(0, 100);
    expect(events).to.deep.equal(first.registry.queries.events(runId).readAfter(0, 100).events);
    expect(second.controlled.calls).to.deep.equal([]);
    expect(second.registry.queries.events(runId).isClosed).to.equal(true);
  });

  it('goes on with a run that was at work', async () => {
    const first = new StoredRuns(disk);
    const runId = await first.submit();
    const second = await new StoredRuns(disk).restore();
    expect(second.getStatus(runId)).to.equal('running');
    await second.complete(runId);
    expect(second.registry.record(runId)).to.deep.include({ status: 'succeeded', settled: true });
  });

  it('has all events of a run that was only accepted, however long it takes to enter it', async () => {
    const first = new StoredRuns(disk, { maxRunning: 1 });
    const [a, b] = (await first.submitAll(['x', 'x'])) as [string, string];
    await first.store.idle();
    const second = await new StoredRuns(disk, { maxRunning: 1 }).restore(() => settle());
    await second.complete(a);
    await second.complete(b);
    const { events } = second.registry.queries.events(b).readAfter(0, 100);
    expect(events.map(({ seq }) => seq)).to.deep.equal(events.map((_, at) => at + 1));
  });

  it('keeps the order of the queue, and begins with the runs that had begun', async () => {
    const first = new StoredRuns(disk, { maxRunning: 1 });
    const [a, b, c] = await first.submitAll(['x', 'x', 'x']);
    const second = await new StoredRuns(disk, { maxRunning: 1 }).restore();
    expect(second.registry.queries.load).to.deep.equal({ queued: 2, running: 1 });
    for (const runId of [a, b, c]) await second.complete(runId as string);
    expect(second.calledRunIds).to.deep.equal([a, b, c]);
    expect(await second.listKeptIds()).to.deep.equal([c, b, a]);
  });

  it('rebuilds none of the runs that have settled, and lists them in their order (D74)', async () => {
    const first = new StoredRuns(disk);
    const [a, b, c] = (await first.submitAll(['x', 'x', 'x'])) as [string, string, string];
    await first.complete(a);
    await first.complete(c);
    await first.store.idle();
    const second = new StoredRuns(disk);
    let revived = 0;
    await second.restore(() => void revived++);
    expect(revived).to.equal(1);
    expect(() => second.registry.record(a)).to.throw('there is no run');
    expect(await second.listKeptIds()).to.deep.equal([c, b, a]);
    await second.complete(b);
    expect(second.calledRunIds).to.deep.equal([b]);
    expect(await second.listKeptIds()).to.deep.equal([c, b, a]);
  });

  it('remembers that a run was cancelled while it was at work', async () => {
    const first = new StoredRuns(disk);
    const runId = await first.submit();
    await first.registry.cancel(runId);
    const second = await new StoredRuns(disk).restore();
    expect(second.registry.record(runId)).to.deep.include({ status: 'cancelled', settled: false });
    await second.complete(runId);
    expect(second.registry.record(runId)).to.deep.include({ status: 'cancelled', settled: true });
  });

  it('cancels a run that had begun and waits for a slot, without waiting for the others', async () => {
    const first = new StoredRuns(disk, { maxRunning: 2 });
    const [a, b] = (await first.submitAll(['x', 'x'])) as [string, string];
    const second = await new StoredRuns(disk, { maxRunning: 1 }).restore();
    expect(second.registry.queries.load).to.deep.equal({ queued: 1, running: 1 });
    expect(await second.registry.cancel(b)).to.deep.include({ status: 'cancelled', settled: false });
    expect(second.registry.queries.load).to.deep.equal({ queued: 0, running: 2 });
    await second.complete(b);
    await second.complete(a);
    expect(second.registry.record(b)).to.deep.include({ status: 'cancelled', settled: true });
    expect(second.registry.queries.load).to.deep.equal({ queued: 0, running: 0 });
  });

  it('keeps a paused run paused, and cancels it when it has paused for too long since the restart', async () => {
    const options = { pauseTimeoutMs: 1000 };
    const first = new StoredRuns(disk, options);
    const runId = await first.submitPausing();
    first.clock.advance(900);
    const second = await new StoredRuns(disk, options).restore();
    expect(second.registry.record(runId)).to.deep.include({ status: 'running', paused: true });
    second.clock.advance(999);
    await second.waitUntilIdle();
    expect(second.getStatus(runId)).to.equal('running');
    second.clock.advance(1);
    await second.waitUntilIdle();
    expect(second.getStatus(runId)).to.equal('cancelled');
    expect(second.controlled.calls).to.deep.equal([]);
  });

  it('keeps the slots of paused runs that are more than half, and lets no further one with breakpoints begin (D42)', async () => {
    const first = new StoredRuns(disk, { maxRunning: 6 });
    const paused = [await first.submitPausing(), await first.submitPausing(), await first.submitPausing()];
    const waiting = await first.submitPausing();
    expect(first.getStatus(waiting)).to.equal('queued');
    const second = await new StoredRuns(disk, { maxRunning: 4 }).restore();
    const isPaused = (runId: string): boolean => second.registry.record(runId).paused;
    expect(paused.map(isPaused)).to.deep.equal([true, true, true]);
    expect(second.getStatus(waiting)).to.equal('queued');
    expect(second.getStatus(await second.submit())).to.equal('running');
    for (const runId of paused) {
      expect(isPaused(waiting)).to.equal(runId === paused[2]);
      await second.registry.cancel(runId);
      await second.waitUntilIdle();
    }
    expect(isPaused(waiting)).to.equal(true);
  });

  it('answers a repeated submission with the run of the first process (D36)', async () => {
    const first = new StoredRuns(disk);
    const runId = await first.submit('default', { idempotency: KEY });
    const second = await new StoredRuns(disk).restore();
    const again = await second.registry.submitOnce('default', KEY, () =>
      Promise.reject(new Error('a second run')),
    );
    expect(again).to.deep.include({ run_id: runId, isReplayed: true });
    const conflict = second.registry.submitOnce('default', { ...KEY, fingerprint: 'g' }, async () => '');
    expect(await catchRejection(conflict)).to.have.property('code', 'idempotency_conflict');
  });

  it('answers a repeated submission with the run that the first process has forgotten, until the key expires', async () => {
    const first = new StoredRuns(disk);
    const runId = await first.submitAndComplete('default', { idempotency: KEY });
    first.registry.remove(runId);
    await first.store.idle();
    const second = await new StoredRuns(disk).restore();
    second.clock.advance(80_000_000);
    const refuse = (): Promise<never> => Promise.reject(new Error('a second run'));
    expect(await second.registry.submitOnce('default', KEY, refuse)).to.deep.include({
      run_id: runId,
      status: 'succeeded',
      isReplayed: true,
      isKept: false,
    });
    second.clock.advance(7_000_000);
    expect(await catchRejection(second.registry.submitOnce('default', KEY, refuse))).to.have.property(
      'message',
      'a second run',
    );
    await second.store.idle();
    expect(disk.keys.size).to.equal(0);
  });

  /** Reruns a run whose second task has failed. */
  async function rerunFailed(): Promise<{ first: StoredRuns; origin: string; rerun: string }> {
    const first = new StoredRuns(disk, { pipeline: TWO_TASKS });
    const origin = await first.submit();
    await first.controlled.returns('from a');
    await first.controlled.rejects(new Error('broken'));
    await first.waitUntilIdle();
    const rerun = await first.registry.rerun(origin, { from: 'failed' });
    await first.waitUntilIdle();
    return { first, origin, rerun };
  }

  it('goes on with a rerun, and reuses what that reuses', async () => {
    const { origin, rerun } = await rerunFailed();
    const second = await new StoredRuns(disk, { pipeline: TWO_TASKS }).restore();
    expect(second.controlled.order).to.deep.equal(['b']);
    await second.complete(rerun);
    expect(second.registry.record(rerun)).to.deep.include({ rerun_of: origin, status: 'succeeded' });
    expect(second.registry.record(rerun).result).to.deep.include({
      outputs: { a: 'from a', b: 'done' },
      tasks_executed: 1,
    });
  });

  it('rebuilds a rerun whose earlier run was removed, and is not in the store any more', async () => {
    const { first, origin, rerun } = await rerunFailed();
    await first.complete(rerun);
    first.registry.remove(origin);
    await first.store.idle();
    expect([...disk.runs.keys()]).to.deep.equal([rerun]);
    const second = await new StoredRuns(disk, { pipeline: TWO_TASKS }).restore();
    expect(await second.show(rerun)).to.deep.equal(first.registry.record(rerun));
    expect(await second.listKeptIds()).to.deep.equal([rerun]);
    second.registry.remove(rerun);
    await second.store.idle();
    expect(disk.runs.size).to.equal(0);
  });

  it('removes a rerun that was not accepted: its process ended before all that it may reuse was kept', async () => {
    const first = new StoredRuns(disk);
    const origin = await first.submitAndComplete();
    const rerun = await first.registry.rerun(origin);
    await first.store.idle();
    const documents = disk.documents.get(rerun) ?? [];
    expect(documents[1]).to.contain('"part":"complete"');
    disk.documents.set(rerun, documents.slice(0, 1));
    const second = await new StoredRuns(disk).restore();
    expect(await second.listKeptIds()).to.deep.equal([origin]);
    await second.store.idle();
    expect([...disk.runs.keys()]).to.deep.equal([origin]);
  });

  it('takes memory for what it reads of a settled run, and gives it back as soon as another needs it (D74)', async () => {
    const memory = (): MemoryPool => new MemoryPool({ total: 200_000 });
    const first = new StoredRuns(disk, { memory: memory() });
    const [a, b] = (await first.submitAll(['x', 'x'])) as [string, string];
    await first.complete(a, 'long '.repeat(10_000));
    const used = memory();
    const second = await new StoredRuns(disk, { memory: used }).restore();
    expect(used.usedBytes).to.be.lessThan(25_000);
    expect((await second.show(a)).status).to.equal('succeeded');
    expect(used.usedBytes).to.be.greaterThan(50_000);
    await settle(1);
    await second.complete(b, 'long '.repeat(30_000));
    expect(second.getStatus(b)).to.equal('succeeded');
    expect(() => second.registry.record(a)).to.throw('there is no run');
    expect(await second.listKeptIds()).to.deep.equal([b, a]);
    expect((await second.show(a)).result?.outputs).to.deep.equal({ a: 'long '.repeat(10_000) });
  });

  it('removes a run from the store, too', async () => {
    const first = new StoredRuns(disk);
    const [a, b] = (await first.submitAll(['x', 'x'])) as [string, string];
    for (const runId of [a, b]) await first.complete(runId);
    first.registry.remove(a);
    await first.store.idle();
    expect([...disk.runs.keys()]).to.deep.equal([b]);
    expect([...disk.documents.keys()]).to.deep.equal([b]);
    expect(await first.listKeptIds()).to.deep.equal([b]);
  });

  it('leaves what is queued and at work when it closes, for the next process', async () => {
    const first = new StoredRuns(disk, { maxRunning: 1 });
    const [a, b] = await first.submitAll(['x', 'x']);
    const closed = first.registry.close(1000);
    first.clock.advance(1000);
    await closed;
    const second = await new StoredRuns(disk, { maxRunning: 1 }).restore();
    for (const runId of [a, b]) {
      await second.complete(runId as string);
      expect(second.getStatus(runId as string)).to.equal('succeeded');
    }
  });

  for (const [title, days] of [
    ['back', -5],
    ['forward', 5],
  ] as const) {
    it(`goes on when the clock was set ${title} by days over the restart: its times never go back (D27)`, async () => {
      const first = new StoredRuns(disk);
      const [a, b] = (await first.submitAll(['x', 'x'])) as [string, string];
      first.clock.advance(1000);
      await first.complete(a);
      const next = new StoredRuns(disk);
      next.clock.stepWall(days * DAY_MS);
      const second = await next.restore();
      expect(await second.show(a)).to.deep.equal(first.registry.record(a));
      second.clock.advance(1000);
      await second.complete(b);
      const { created_at: created, started_at: started, finished_at: finished } = second.registry.record(b);
      const times = [created, started ?? '', finished ?? ''];
      expect(times).to.deep.equal(times.toSorted());
      const { events } = second.registry.queries.events(b).readAfter(0, 100);
      const eventTimes = events.map(({ time }) => time);
      expect(eventTimes).to.deep.equal(eventTimes.toSorted());
    });

    it(`keeps the keys of forgotten runs no longer than their time when the clock was set ${title} by days (D36)`, async () => {
      const first = new StoredRuns(disk);
      const runId = await first.submitAndComplete('default', { idempotency: KEY });
      first.registry.remove(runId);
      await first.store.idle();
      const next = new StoredRuns(disk);
      next.clock.stepWall(days * DAY_MS);
      const second = await next.restore();
      const submit = (): Promise<{ readonly isReplayed: boolean }> =>
        second.registry.submitOnce('default', KEY, () => second.submit());
      if (days < 0) {
        second.clock.advance(DAY_MS - 1);
        expect((await submit()).isReplayed).to.equal(true);
        second.clock.advance(1);
      }
      expect((await submit()).isReplayed).to.equal(false);
    });

    it(`deletes settled runs that are older than allowed, also when the clock was set ${title} by days (D74)`, async () => {
      const archiveLimits = { ttlMs: DAY_MS, maxRuns: 10, maxBytes: Number.POSITIVE_INFINITY };
      const first = new StoredRuns(disk);
      const runId = await first.submitAndComplete();
      const next = new StoredRuns(disk, { archiveLimits });
      next.clock.stepWall(days * DAY_MS);
      const second = await next.restore();
      second.clock.advance(1);
      await settle(5);
      expect(await second.listKeptIds()).to.deep.equal(days < 0 ? [runId] : []);
      second.clock.advance(7 * DAY_MS);
      await settle(5);
      second.clock.advance(5000);
      await settle(5);
      expect(await second.listKeptIds()).to.deep.equal([]);
      expect(disk.runs.size).to.equal(0);
      await second.registry.close(0);
    });
  }

  it('deletes a settled run when the time that its definition keeps it is over, also after a restart (D74)', async () => {
    const archiveLimits = { ttlMs: 100 * DAY_MS, maxRuns: 10, maxBytes: Number.POSITIVE_INFINITY };
    const pipeline = '{id: short, goal: g, keep: 1h, tasks: [{id: a, tool: controlled}]}';
    const first = new StoredRuns(disk, { pipeline });
    const runId = await first.submitAndComplete();
    await first.store.idle();
    expect(disk.ends.get(runId)?.keep).to.deep.equal({ ageMs: 3_600_000, runs: undefined });
    const second = await new StoredRuns(disk, { archiveLimits }).restore();
    second.clock.advance(3_599_000);
    await settle(5);
    expect(await second.listKeptIds()).to.deep.equal([runId]);
    second.clock.advance(5000);
    await settle(5);
    expect(await second.listKeptIds()).to.deep.equal([]);
    await second.registry.close(0);
  });

  it('keeps its store open until requests are answered: what they remove is gone for good', async () => {
    const first = new StoredRuns(disk);
    const runId = await first.submitAndComplete();
    await first.registry.close(0, async () => first.registry.remove(runId));
    expect([...disk.runs.keys()]).to.deep.equal([]);
  });

  it('forgets nothing when it closes, however many runs it leaves, and shows none of them as ended', async () => {
    const first = new StoredRuns(disk, { maxRunning: 2 });
    const ids = await first.submitAll(['x', 'x', 'x', 'x']);
    const [a] = ids as [string];
    const log = first.registry.queries.events(a);
    const waiting = catchRejection(first.registry.settled(a));
    const seen = log.lastSeq;
    const closed = first.registry.close(1000);
    first.clock.advance(1000);
    await closed;
    expect(await waiting).to.have.property('code', 'shutting_down');
    expect(() => first.registry.record(a)).to.throw('the server is shutting down');
    expect(() => first.registry.list({ limit: 10 })).to.throw('the server is shutting down');
    // A reader who comes back to the next server has missed nothing, and was told of no end.
    expect(log.isClosed).to.equal(false);
    expect(log.lastSeq).to.equal(seen);
    expect([...disk.runs.keys()]).to.deep.equal(ids);
    const second = await new StoredRuns(disk, { maxRunning: 2 }).restore();
    expect(second.registry.record(a)).to.deep.include({ status: 'running', failures: [] });
  });

  it('does not wait for paused runs when it closes', async () => {
    const first = new StoredRuns(disk);
    await first.submitPausing();
    await first.registry.close(1000);
  });

  it('shows a run as it was until it is rebuilt', async () => {
    const first = new StoredRuns(disk, { maxRunning: 2 });
    const [a, b] = (await first.submitAll(['x', 'x'])) as [string, string];
    await first.registry.cancel(b);
    const { started_at } = first.registry.record(b);
    await first.store.idle();
    const second = await new StoredRuns(disk, { maxRunning: 1 }).restore();
    expect(second.registry.record(a).status).to.equal('running');
    expect(second.registry.record(b)).to.deep.include({ status: 'cancelled', settled: false, started_at });
  });

  it('refuses a submission that cannot be kept, and forgets its run', async () => {
    const runs = new StoredRuns(disk);
    runs.store.fault = new Error('the disk is full');
    const refused = await catchRejection(runs.registry.submit({ pipeline: runs.pipeline }));
    expect(refused).to.include({ code: 'not_ready', fault: 'service' });
    expect(runs.registry.list({ limit: 10 }).runs).to.deep.equal([]);
    expect(disk.runs.size).to.equal(0);
  });

  it('answers nobody with what could not be kept: the end of a run, a cancellation', async () => {
    const runs = new StoredRuns(disk);
    const [a, b] = await runs.submitAll(['x', 'x']);
    const ended = catchRejection(runs.registry.settled(a as string));
    runs.store.fault = new Error('the disk is full');
    runs.findCall(a as string).resolve('done');
    const cancelled = catchRejection(runs.registry.cancel(b as string));
    expect(await ended).to.include({ code: 'not_ready' });
    expect(await cancelled).to.include({ code: 'not_ready' });
    const next = await new StoredRuns(disk).restore();
    expect([a, b].map((id) => next.getStatus(id as string))).to.deep.equal(['running', 'running']);
  });

  it('leaves a run that it was still rebuilding when it closes, without a warning', async () => {
    const first = new StoredRuns(disk);
    const runId = await first.submit();
    const second = new StoredRuns(disk);
    const restored = second.restore();
    const closed = second.registry.close(0);
    second.clock.advance(1);
    await Promise.all([restored, closed]);
    second.clock.advance(60_000);
    expect(await takeWarnings()).to.deep.equal([]);
    const third = await new StoredRuns(disk).restore();
    await third.complete(runId);
    expect(third.getStatus(runId)).to.equal('succeeded');
  });

  it('shows a settled run whose facts do not lead to its end, calls nothing of it, and has no actors for it', async () => {
    const first = new StoredRuns(disk);
    const runId = await first.submitAndComplete();
    const before = first.registry.record(runId);
    await first.store.idle();
    const pipeline = '{id: other, goal: g, tasks: [{id: other, tool: controlled}]}';
    const second = new StoredRuns(disk, { pipeline });
    const revive: ReviveDefinition = async () => ({
      kind: 'pipeline',
      pipeline: parsePipeline(pipeline, { tools: [second.controlled.tool] }),
    });
    await second.registry.restore(revive);
    const { result: _, ...shown } = await second.show(runId);
    expect(before).to.deep.include(shown);
    const replayed = catchRejection(second.registry.queries.actors.snapshot(runId));
    await settle(20);
    second.clock.advance(500);
    expect(errorMessage(await replayed)).to.contain(`the actors of run ${runId} cannot be shown`);
    expect(second.controlled.calls).to.deep.equal([]);
    expect((await takeWarnings()).join()).to.contain(`run ${runId} goes on without all that it had done`);
    expect(await second.listKeptIds()).to.deep.equal([runId]);
  });

  it('does not rebuild a run any more at which twenty processes have crashed, and keeps it', async () => {
    const first = new StoredRuns(disk);
    const runId = await first.submit();
    const restored = [{ kind: 'restored', at: 0 }];
    for (let crash = 1; crash < 20; crash++) disk.documents.get(runId)?.push(JSON.stringify(restored));
    const second = await new StoredRuns(disk).restore();
    expect((await takeWarnings()).join()).to.contain(
      `run ${runId} cannot be rebuilt: the process ended 20 times when it was rebuilt`,
    );
    expect(second.registry.queries.load).to.deep.equal({ queued: 0, running: 0 });
    expect(disk.runs.has(runId)).to.equal(true);
  });

  it('warns of a run whose definition is not valid any more, and keeps it', async () => {
    const first = new StoredRuns(disk);
    const runId = await first.submit();
    const second = new StoredRuns(disk);
    const refuse = (): Promise<never> => Promise.reject(new Error('tool "controlled" is missing'));
    await second.registry.restore(refuse);
    expect((await takeWarnings()).join()).to.contain(
      `run ${runId} cannot be rebuilt: tool "controlled" is missing`,
    );
    expect(disk.runs.has(runId)).to.equal(true);
  });
});
