import { expect } from 'chai';
import { MemoryPool } from '../../../lib/common/memory/memory-pool.js';
import { deferred, settle } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';
import { createDisk, type Disk } from './memory/memory-store.js';
import { StoredRuns } from './suites/stored-runs.js';

describe('Reading a settled run from the archive of a store (D74)', () => {
  let disk: Disk;
  let runId: string;

  beforeEach(async () => {
    disk = createDisk();
    const first = new StoredRuns(disk);
    runId = await first.submitAndComplete();
    await first.store.idle();
  });

  it('happens once for all who ask for the run meanwhile', async () => {
    const checked = deferred<void>();
    let checks = 0;
    const runs = await new StoredRuns(disk).restore(() => {
      checks++;
      return checked.promise;
    });
    const shown = Promise.all([runs.show(runId), runs.show(runId), runs.registry.settled(runId)]);
    await settle(10);
    // Nobody finds a run that is not rebuilt as a whole.
    expect(() => runs.registry.record(runId)).to.throw('there is no run');
    checked.resolve();
    const [one, two, three] = await shown;
    expect(checks).to.equal(1);
    expect(one.status).to.equal('succeeded');
    expect(two).to.deep.equal(one);
    expect(three).to.deep.equal(one);
  });

  it('ends with run_not_found when the run is deleted meanwhile, and leaves no memory taken', async () => {
    const checked = deferred<void>();
    const memory = new MemoryPool({ total: 1_000_000 });
    const runs = await new StoredRuns(disk, { memory }).restore(() => checked.promise);
    const read = catchRejection(runs.show(runId));
    await settle(10);
    runs.store.remove(runId);
    await runs.store.idle();
    await settle(2);
    checked.resolve();
    expect(await read).to.have.property('code', 'run_not_found');
    expect(memory.usedBytes).to.equal(0);
    expect(await runs.listKeptIds()).to.deep.equal([]);
  });

  it('goes on when one of those who asked for the run has gone', async () => {
    const checked = deferred<void>();
    let checks = 0;
    const memory = new MemoryPool({ total: 1_000_000 });
    const runs = await new StoredRuns(disk, { memory }).restore(() => {
      checks++;
      return checked.promise;
    });
    const { queries } = runs.registry;
    const [one, two] = [new AbortController(), new AbortController()];
    const gone = queries.open(runId, null, () => one.signal);
    const waits = queries.open(runId, null, () => two.signal);
    await settle(10);
    one.abort();
    checked.resolve();
    (await waits)();
    expect(runs.registry.record(runId).status).to.equal('succeeded');
    (await gone)();
    expect(checks).to.equal(1);
  });

  it('does not begin for somebody who has gone', async () => {
    let checks = 0;
    const memory = new MemoryPool({ total: 1_000_000 });
    const runs = await new StoredRuns(disk, { memory }).restore(() => void checks++);
    const opened = runs.registry.queries.open(runId, null, () => AbortSignal.abort());
    expect(await catchRejection(opened)).to.have.property('code', 'not_ready');
    await settle(10);
    expect(checks).to.equal(0);
    expect(memory.usedBytes).to.equal(0);
    expect((await runs.show(runId)).status).to.equal('succeeded');
  });

  it('says that there is no run, also for a rerun, when its facts are gone', async () => {
    disk.documents.delete(runId);
    const runs = await new StoredRuns(disk).restore();
    expect(await catchRejection(runs.show(runId))).to.have.property('code', 'run_not_found');
    expect(await catchRejection(runs.registry.rerun(runId))).to.have.property('code', 'run_not_found');
  });

  it('shows nothing to callers of other tenants', async () => {
    let checks = 0;
    const runs = await new StoredRuns(disk).restore(() => void checks++);
    await runs.registry.queries.open(runId, ['other']);
    expect(() => runs.registry.record(runId)).to.throw('there is no run');
    expect(checks).to.equal(0);
  });
});
