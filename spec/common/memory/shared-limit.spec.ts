import { expect } from 'chai';
import fc from 'fast-check';
import { lowerShare, SharedLimit, shareLimit } from '../../../lib/common/memory/shared-limit.js';

describe('a limit that tenants share (D25)', () => {
  it('lets one tenant use the whole of it', () => {
    const limit = new SharedLimit({ total: 3, guaranteed: 1 });
    expect([1, 1, 1, 1].map((amount) => limit.tryAcquire('alice', amount))).to.eql([true, true, true, false]);
  });

  it('guarantees each tenant its share while another uses the whole of it', () => {
    const limit = new SharedLimit({ total: 3, guaranteed: 1 });
    limit.tryAcquire('alice', 3);
    expect(limit.tryAcquire('bob')).to.equal(true);
    expect(limit.tryAcquire('bob')).to.equal(false);
    expect(limit.tryAcquire('carol')).to.equal(true);
  });

  it('gives a released amount to whoever asks next', () => {
    const limit = new SharedLimit({ total: 2 });
    limit.tryAcquire('alice', 2);
    expect(limit.tryAcquire('bob')).to.equal(false);
    limit.release('alice');
    expect(limit.tryAcquire('bob')).to.equal(true);
    expect([limit.usedBy('alice'), limit.usedBy('bob'), limit.used]).to.eql([1, 1, 2]);
  });

  it('never lets all tenants use more than twice the total, and counts what each of them uses', () => {
    const step = fc.record({
      tenant: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      amount: fc.integer({ min: 1, max: 6 }),
      acquires: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 0, max: 12 }),
        fc.array(step),
        (total, guaranteed, steps) => {
          const limit = new SharedLimit({ total, guaranteed });
          const held = new Map<string, number[]>();
          for (const { tenant, amount, acquires } of steps) {
            const amounts = held.get(tenant) ?? [];
            if (acquires && limit.tryAcquire(tenant, amount)) amounts.push(amount);
            if (!acquires) limit.release(tenant, amounts.pop() ?? 0);
            held.set(tenant, amounts);
          }
          const sums = [...held].map(
            ([tenant, amounts]) => [tenant, amounts.reduce((a, b) => a + b, 0)] as const,
          );
          for (const [tenant, sum] of sums) expect(limit.usedBy(tenant)).to.equal(sum);
          expect(limit.used).to.equal(sums.reduce((all, [, sum]) => all + sum, 0));
          expect(limit.used).to.be.at.most(2 * total);
        },
      ),
    );
  });

  it('has enough for the share of every tenant once that was lowered to their number, however many there are', () => {
    const total = 1_000_000;
    for (const tenants of [1, 2, 11, 12, 14, 100, 1000]) {
      const share = lowerShare(10, tenants);
      const limit = new SharedLimit(shareLimit(total, share));
      limit.tryAcquire('t0', total);
      const amount = Math.floor((total * share) / 100);
      for (let i = 1; i < tenants; i++) expect(limit.tryAcquire(`t${i}`, amount)).to.equal(true);
      if (tenants <= 11) expect(share).to.equal(10);
    }
  });
});
