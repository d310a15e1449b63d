import { expect } from 'chai';
import type { AuditEntry } from '../../lib/audit/audit-entry.js';
import type { AuditEvent } from '../../lib/audit/audit-store.js';
import { AuditTrail } from '../../lib/audit/audit-trail.js';
import { MemoryAuditStore } from '../../lib/audit/memory-audit-store.js';
import { ManualClock } from '../support/manual-clock.js';

const LIMITS = { keep: 1000, ttlMs: 86_400_000 };

describe('AuditTrail (D95)', () => {
  let clock: ManualClock;
  let trail: AuditTrail;

  beforeEach(() => {
    clock = new ManualClock();
    trail = new AuditTrail({ store: new MemoryAuditStore(LIMITS), limits: LIMITS, clock });
  });

  const list = async (): Promise<readonly AuditEntry[]> => (await trail.page({ limit: 500 }, '')).entries;

  it('gives entries of one moment ids that grow, also when the clock is set back', async () => {
    trail.record(done());
    trail.record(done());
    clock.stepWall(-5000);
    trail.record(done());
    const ids = (await list()).map(({ id }) => Number(id));
    expect(ids).to.deep.equal(ids.toSorted((a, b) => b - a));
    expect(new Set(ids).size).to.equal(3);
  });

  it('does not list what is older than the time for which entries are kept', async () => {
    trail.record(done());
    clock.advance(LIMITS.ttlMs + 1);
    expect(await list()).to.deep.equal([]);
  });

  it('cuts long names and ids', async () => {
    trail.record(done({ object: { kind: 'run', id: 'x'.repeat(5000) } }));
    expect((await list())[0]?.object.id).to.have.length(201);
  });

  it('writes addresses of IPv4 as such', async () => {
    trail.record(done({ address: '::ffff:10.0.0.7' }));
    expect((await list())[0]?.address).to.equal('10.0.0.7');
  });

  describe('with refused attempts', () => {
    it('lists the first at once, and the others of a minute as one entry with their number', async () => {
      for (let count = 0; count < 50; count++) trail.record(refused());
      expect((await list()).map(({ count }) => count)).to.deep.equal([1]);
      clock.advance(60_000);
      expect((await list()).map(({ count }) => count)).to.deep.equal([49, 1]);
    });

    it('goes on counting in the next minute, and begins anew after a minute without any', async () => {
      for (let minute = 0; minute < 3; minute++) {
        trail.record(refused());
        trail.record(refused());
        clock.advance(60_000);
      }
      clock.advance(60_000);
      trail.record(refused());
      expect((await list()).map(({ count }) => count)).to.deep.equal([1, 2, 2, 1, 1]);
    });

    it('counts attempts of different addresses, callers and objects apart', async () => {
      trail.record(refused());
      trail.record(refused({ address: '10.0.0.2' }));
      trail.record(refused({ who: { kind: 'key', name: 'ci' } }));
      trail.record(refused({ object: { kind: 'run', id: 'b' } }));
      expect(await list()).to.have.length(4);
    });

    it('makes some entries of a flood of different ones by one caller, and loses none of the numbers', async () => {
      for (let count = 0; count < 10_000; count++) trail.record(refused({ object: run(count) }));
      clock.advance(60_000);
      const entries = await list();
      expect(entries).to.have.length(22);
      expect(entries[0]).to.deep.include({ object: { kind: 'run', id: null }, address: '10.0.0.1' });
      expect(sumOf(entries)).to.equal(10_000);
    });

    it('makes some hundred entries of a flood by many callers, and loses none of the numbers', async () => {
      for (let count = 0; count < 10_000; count++) {
        trail.record(refused({ object: run(count), address: `10.0.${count >> 8}.${count & 255}` }));
      }
      clock.advance(60_000);
      const entries = await list();
      expect(entries).to.have.length(402);
      expect(entries[0]).to.deep.include({ object: { kind: 'run', id: null }, address: null });
      expect(sumOf(entries)).to.equal(10_000);
    });

    for (const [flood, address] of [
      ['an address', () => '10.0.0.1'],
      ['a network of IPv6', (count: number) => `2001:db8::7:${count.toString(16)}`],
    ] as const) {
      it(`lists attempts of other addresses on their own although one caller floods from ${flood}`, async () => {
        for (let count = 0; count < 1000; count++) {
          trail.record(refused({ object: run(count), address: address(count) }));
        }
        const other = refused({ object: { kind: 'run', id: 'other' }, address: '10.0.0.2' });
        trail.record(other);
        trail.record(other);
        clock.advance(60_000);
        const entries = (await list()).filter((entry) => entry.address === '10.0.0.2');
        expect(entries.map(({ object, count }) => [object.id, count])).to.deep.equal([
          ['other', 1],
          ['other', 1],
        ]);
      });
    }

    it('lists the attempts of a key on their own although another key of its tenant floods', async () => {
      const by = (name: string, id: string): AuditEvent =>
        refused({ tenantId: 'acme', who: { kind: 'key', name }, object: { kind: 'run', id }, status: 403 });
      for (let count = 0; count < 1000; count++) trail.record(by('flood', `${count}`));
      trail.record(by('ci', 'mine'));
      expect((await list())[0]).to.deep.include({
        who: { kind: 'key', name: 'ci' },
        object: { kind: 'run', id: 'mine' },
        address: '10.0.0.1',
      });
    });

    it('names the network of the address in the entries of many different attempts from IPv6', async () => {
      for (let count = 0; count < 30; count++) {
        trail.record(refused({ object: run(count), address: `2001:db8:1:2:3::${count}` }));
      }
      expect((await list())[0]).to.deep.include({
        object: { kind: 'run', id: null },
        address: '2001:db8:1:2::/64',
      });
    });

    it('gives a caller its places again after a minute without attempts', async () => {
      for (let count = 0; count < 30; count++) trail.record(refused({ object: run(count) }));
      clock.advance(120_000);
      trail.record(refused({ object: { kind: 'run', id: 'later' } }));
      expect((await list())[0]?.object.id).to.equal('later');
    });

    it('makes the entries of one tenant although another one floods', async () => {
      for (let count = 0; count < 500; count++)
        trail.record(refused({ object: { kind: 'run', id: `${count}` } }));
      const mine = refused({ tenantId: 'acme', object: { kind: 'run', id: 'mine' } });
      trail.record(mine);
      expect((await list())[0]).to.deep.include({ tenant_id: 'acme', object: mine.object });
    });

    it('lists what was counted when it is closed, and leaves no timer', async () => {
      trail.record(refused());
      trail.record(refused());
      trail.close();
      expect((await list()).map(({ count }) => count)).to.deep.equal([1, 1]);
      expect(clock.pending).to.equal(0);
    });
  });
});

function done(changed: Partial<AuditEvent> = {}): AuditEvent {
  const object = { kind: 'run', id: 'a' } as const;
  return {
    who: { kind: 'key', name: 'ci' },
    action: 'cancel',
    object,
    tenantId: 'default',
    result: 'ok',
    ...changed,
  };
}

function run(number: number): AuditEvent['object'] {
  return { kind: 'run', id: `${number}` };
}

function sumOf(entries: readonly AuditEntry[]): number {
  return entries.reduce((sum, { count }) => sum + count, 0);
}

function refused(changed: Partial<AuditEvent> = {}): AuditEvent {
  const who = { kind: 'anonymous', name: null } as const;
  return done({
    who,
    tenantId: '',
    address: '10.0.0.1',
    result: 'refused',
    status: 401,
    code: 'unauthorized',
    ...changed,
  });
}
