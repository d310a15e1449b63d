import { expect } from 'chai';
import { MemoryPool } from '../../../lib/common/memory/memory-pool.js';
import { deferred, settle } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';
import { takeWarnings } from '../../support/warnings.js';
import { createDisk, type Disk } from './memory/memory-store.js';
import { StoredRuns } from './suites/stored-runs.js';

const MIB = 2 ** 20;

describe('Taking over the runs of a store, beside requests (D68)', () => {
  let disk: Disk;

  beforeEach(() => {
    disk = createDisk();
  });

  it('lets tenants take turns: one whose definitions take long to check does not delay the others', async () => {
    const first = new StoredRuns(disk);
    const ids = await first.submitAll(['slow', 'slow', 'slow', 'quick']);
    const second = new StoredRuns(disk);
    const checked = deferred<void>();
    const order: string[] = [];
    const [restored] = await second.list(({ tenant_id: tenant }) => {
      order.push(tenant);
      return tenant === 'slow' && order.length > 1 ? checked.promise : undefined;
    });
    await second.registry.queries.restoration?.whenComplete(['quick']);
    await second.waitUntilIdle();
    expect(order).to.deep.equal(['slow', 'quick', 'slow']);
    expect(second.getStatus(ids[3] as string)).to.equal('running');
    checked.resolve();
    expect(await restored).to.deep.equal({ kept: 4, goingOn: 4, waiting: 0 });
    await second.registry.queries.restoration?.whenComplete(null);
  });

  it('restores a run next that its tenant asks for, and lets nobody wait for a run of another tenant', async () => {
    const first = new StoredRuns(disk);
    const ids = await first.submitAll(['a', 'a', 'a', 'a']);
    const last = ids[3] as string;
    const second = new StoredRuns(disk);
    const begin = deferred<void>();
    let revived = 0;
    const [restored] = await second.list(() => (++revived === 1 ? begin.promise : undefined));
    const { restoration } = second.registry.queries;
    await restoration?.whenRestored(last, ['b']);
    await restoration?.whenRestored('none', null);
    expect(() => second.registry.record(last)).to.throw('there is no run');
    let isThere = false;
    const asked = restoration?.whenRestored(last, ['a'])?.then(() => {
      isThere = true;
      expect(second.registry.record(last)).to.include({ run_id: last });
      expect(() => second.registry.record(ids[2] as string)).to.throw('there is no run');
    });
    await settle();
    expect(isThere).to.equal(false);
    begin.resolve();
    await asked;
    await restored;
    expect(second.listIds()).to.deep.equal(ids.toReversed());
  });

  it('starts new runs of a tenant after those that an earlier process has accepted (D25)', async () => {
    const first = new StoredRuns(disk, { maxRunning: 1 });
    const earlier = await first.submitAll(['a', 'a']);
    const second = new StoredRuns(disk, { maxRunning: 1 });
    const checked = deferred<void>();
    const [restored] = await second.list(() => checked.promise);
    const later = await second.submit('a');
    const cancelled = await second.submit('a');
    expect(second.registry.queries.load).to.deep.equal({ queued: 2, running: 0 });
    expect(await second.registry.cancel(cancelled)).to.include({ status: 'cancelled' });
    checked.resolve();
    await restored;
    await second.waitUntilIdle();
    for (const runId of [...earlier, later]) await second.complete(runId);
    expect(second.calledRunIds).to.deep.equal([...earlier, later]);
    expect(second.registry.queries.load).to.deep.equal({ queued: 0, running: 0 });
  });

  it('gives a repeated submission its run, once that is restored (D36)', async () => {
    const first = new StoredRuns(disk);
    const idempotency = { key: 'k', fingerprint: 'f' };
    const runId = await first.submit('a', { idempotency });
    const second = new StoredRuns(disk);
    const checked = deferred<void>();
    const [restored] = await second.list(() => checked.promise);
    const refuse = (): Promise<string> => Promise.reject(new Error('the key was used'));
    const again = second.registry.submitOnce('a', idempotency, refuse);
    checked.resolve();
    expect(await again).to.deep.include({ run_id: runId, isReplayed: true, isKept: true });
    await restored;
  });

  it('lists what there is while settled runs of an earlier version are brought over, and says how many are missing (D74)', async () => {
    const first = new StoredRuns(disk);
    const ids = await first.submitAll(['a', 'a', 'b']);
    for (const id of ids) await first.complete(id);
    await first.waitUntilIdle();
    // As an earlier version has left them.
    disk.ends.clear();
    const second = new StoredRuns(disk);
    const checked = deferred<void>();
    const [restored] = await second.list(() => checked.promise);
    const { queries } = second.registry;
    await queries.restoration?.whenListable(null);
    const count = async (...tenants: string[]) => {
      const query = { limit: 5, ...(tenants.length > 0 && { tenants }) };
      const { runs, migrating } = await queries.listInTurns(query, 'a');
      return [runs.length, migrating, queries.listVersion(query)];
    };
    const [listed, missing, version] = await count();
    expect([listed, missing]).to.deep.equal([0, 3]);
    expect((await count('a'))[1]).to.equal(2);
    expect((await count('nobody'))[1]).to.equal(undefined);
    checked.resolve();
    await restored;
    await second.waitUntilIdle();
    const [all, left, last] = await count();
    expect([all, left]).to.deep.equal([3, undefined]);
    expect(last).not.to.equal(version);
  });

  it('does not check a definition again that the same version and catalog have checked', async () => {
    const runs = new StoredRuns(disk, { checkedBy: '1.0.0 tools' });
    await runs.submit();
    for (const checkedBy of ['1.0.0 tools', '1.0.0 others', undefined]) {
      const marks: boolean[] = [];
      await new StoredRuns(disk, checkedBy === undefined ? {} : { checkedBy }).restore(
        ({ isChecked }) => void marks.push(isChecked),
      );
      expect(marks).to.deep.equal([checkedBy === '1.0.0 tools']);
    }
  });

  describe('of which not all fit into the memory', () => {
    const LARGE = `{id: large, goal: g, tasks: [{id: a, tool: controlled, inputs: {of: "${'x'.repeat(MIB)}"}}]}`;

    /** Two runs of a megabyte of one tenant, and a small one of another. */
    async function keepRuns(): Promise<[string, string, string]> {
      const large = new StoredRuns(disk, { pipeline: LARGE });
      const [a, b] = await large.submitAll(['a', 'a']);
      await large.store.idle();
      const c = await new StoredRuns(disk).submit('b');
      return [a, b, c] as [string, string, string];
    }

    it('takes no more than there is, says what waits, and goes on with it when others have ended', async () => {
      const [a, b, c] = await keepRuns();
      const memory = new MemoryPool({ total: 1.9 * MIB });
      const second = new StoredRuns(disk, { memory });
      const [restored] = await second.list();
      expect(await restored).to.deep.equal({ kept: 2, goingOn: 2, waiting: 1 });
      await second.waitUntilIdle();
      expect((await takeWarnings()).join()).to.contain(
        '1 run waits in memory until there is memory: wait until other runs have ended, or raise SERVICE_MEMORY',
      );
      expect(memory.usedBytes).to.be.below(1.9 * MIB);
      expect([a, c].map((runId) => second.getStatus(runId))).to.deep.equal(['running', 'running']);
      const { restoration } = second.registry.queries;
      expect(await catchRejection(restoration?.whenRestored(b, ['a']) ?? Promise.resolve())).to.include({
        code: 'not_ready',
      });
      await second.complete(a);
      second.registry.remove(a);
      second.clock.advance(1000);
      for (let turns = 0; turns < 20 && restoration?.isWaiting(b) === true; turns++)
        await second.waitUntilIdle();
      expect(second.getStatus(b)).to.equal('running');
      await second.complete(b);
      expect(second.registry.record(b)).to.include({ status: 'succeeded' });
    });

    it('answers a request for the run that it is restoring when there is no memory for that', async () => {
      const [, b] = await keepRuns();
      const second = new StoredRuns(disk, { memory: new MemoryPool({ total: 1.9 * MIB }) });
      let asked: Promise<unknown> = Promise.resolve();
      let revived = 0;
      const [restored] = await second.list(() => {
        if (++revived === 1)
          asked = catchRejection(
            second.registry.queries.restoration?.whenRestored(b, ['a']) ?? Promise.resolve(),
          );
      });
      await restored;
      expect(await asked).to.include({ code: 'not_ready' });
      await takeWarnings();
    });

    it('answers a request that comes while it restores the run, when there is no memory for that', async () => {
      const [, b] = await keepRuns();
      const memory = new MemoryPool({ total: 4 * MIB });
      const second = new StoredRuns(disk, { memory });
      let asked: Promise<unknown> = Promise.resolve();
      let revived = 0;
      const [restored] = await second.list(() => {
        if (++revived !== 3) return;
        // Another run takes all of the memory meanwhile.
        memory.take('b', 4 * MIB);
        asked = catchRejection(
          second.registry.queries.restoration?.whenRestored(b, ['a']) ?? Promise.resolve(),
        );
      });
      await restored;
      expect(await asked).to.include({ code: 'not_ready' });
      await takeWarnings();
    });

    it('does not read a run again before there may be memory, and says once how many wait', async () => {
      await keepRuns();
      const second = new StoredRuns(disk, { memory: new MemoryPool({ total: 1.9 * MIB }) });
      let revived = 0;
      const [restored] = await second.list(() => void revived++);
      await restored;
      await second.waitUntilIdle();
      expect(await takeWarnings()).to.have.length(1);
      const before = revived;
      for (let tries = 0; tries < 5; tries++) {
        second.clock.advance(1000);
        await second.waitUntilIdle();
      }
      expect(revived).to.equal(before);
      expect(await takeWarnings()).to.deep.equal([]);
    });

    it('gives up a run that is larger than all of the memory, and goes on with those behind it', async () => {
      const [a, b, c] = await keepRuns();
      const second = await new StoredRuns(disk, { memory: new MemoryPool({ total: MIB / 2 }) }).restore();
      expect(second.registry.queries.load).to.deep.equal({ queued: 0, running: 1 });
      expect(second.getStatus(c)).to.equal('running');
      const warnings = (await takeWarnings()).join();
      for (const runId of [a, b])
        expect(warnings).to.contain(
          `run ${runId} cannot be rebuilt: it takes 1 MiB, more than all of SERVICE_MEMORY`,
        );
      expect(disk.runs.size).to.equal(3);
    });

    it('ends the wait when it is closed, and leaves the run in the store', async () => {
      const [, b] = await keepRuns();
      const second = new StoredRuns(disk, { memory: new MemoryPool({ total: 1.9 * MIB }) });
      const [restored] = await second.list();
      await restored;
      await takeWarnings();
      const closed = second.registry.close(0);
      second.clock.advance(60_000);
      await closed;
      expect(disk.runs.has(b)).to.equal(true);
    });
  });
});
