import { expect } from 'chai';
import { catchRejection } from '../../support/rejection.js';
import { ControlledRuns } from '../controlled-runs.js';

describe('RunRegistry: what each tenant is guaranteed (D25)', () => {
  it('starts a run of bob while runs of alice that never end hold every slot', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 4, maxQueued: 100, tenantShare: 50 } });
    await fixture.submitAll(Array.from({ length: 6 }, () => 'alice'));
    const [b1 = '', b2 = '', b3 = ''] = await fixture.submitAll(['bob', 'bob', 'bob']);
    const [c1 = ''] = await fixture.submitAll(['carol']);
    expect([b1, b2, b3, c1].map((id) => fixture.getStatus(id))).to.deep.equal([
      'running',
      'running',
      'queued',
      'running',
    ]);
    expect(fixture.registry.queries.load).to.deep.equal({ running: 7, queued: 3 });
    await fixture.complete(b1);
    expect(fixture.getStatus(b3)).to.equal('running');
  });

  it('lets one tenant use every slot and the whole queue when nobody else wants them', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 4, maxQueued: 4, tenantShare: 10 } });
    await fixture.submitAll(Array.from({ length: 8 }, () => 'alice'));
    expect(fixture.registry.queries.load).to.deep.equal({ running: 4, queued: 4 });
    expect(await catchRejection(fixture.submit('alice'))).to.include({ code: 'queue_full' });
  });

  it('accepts a run of bob while alice has filled the queue, up to what he is guaranteed', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 1, maxQueued: 19, tenantShare: 10 } });
    await fixture.submitAll(Array.from({ length: 20 }, () => 'alice'));
    expect(await catchRejection(fixture.submit('alice'))).to.include({ code: 'queue_full' });
    const [b1 = '', b2 = ''] = await fixture.submitAll(['bob', 'bob']);
    expect([b1, b2].map((id) => fixture.getStatus(id))).to.deep.equal(['running', 'queued']);
    expect(await catchRejection(fixture.submit('bob'))).to.include({ code: 'queue_full' });
    await fixture.registry.cancel(b2);
    await fixture.submit('bob');
  });

  it('gives a free slot first to whoever waits in turn, not to whoever is below the guarantee', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 2, maxQueued: 10, tenantShare: 50 } });
    const [a1 = '', , a3 = ''] = await fixture.submitAll(['alice', 'alice', 'alice']);
    await fixture.submitAll(['bob']);
    expect(fixture.registry.queries.load).to.deep.equal({ running: 3, queued: 1 });
    await fixture.complete(a1);
    expect(fixture.getStatus(a3)).to.equal('queued');
    expect(fixture.registry.queries.load).to.deep.equal({ running: 2, queued: 1 });
  });

  it('never runs more than twice maxRunning, however many tenants there are', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 2, maxQueued: 100, tenantShare: 50 } });
    await fixture.submitAll(Array.from({ length: 9 }, (_, index) => `tenant-${index}`));
    expect(fixture.registry.queries.load).to.deep.equal({ running: 4, queued: 5 });
  });
});
