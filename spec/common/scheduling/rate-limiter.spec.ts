import { expect } from 'chai';
import fc from 'fast-check';
import { LeakyBucket, RateLimiter } from '../../../lib/common/scheduling/rate-limiter.js';
import { settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';
import { catchRejection } from '../../support/rejection.js';

describe('RateLimiter', () => {
  it('lets 10 attempts a second go on, fairly between tenants, and pauses time limits (D25)', async () => {
    const limiter = new RateLimiter(10);
    const clock = new ManualClock();
    const went: string[] = [];
    let paused = 0;
    const send = (tenantId: string, signal = new AbortController().signal): Promise<void> =>
      limiter
        .wait({
          tenant_id: tenantId,
          clock,
          signal,
          pauseTimeout: () => {
            paused++;
            return () => paused--;
          },
        })
        .then(() => void went.push(`${tenantId} at ${clock.monotonicNow()}`));
    const controller = new AbortController();
    const sent = [send('a'), send('a'), send('a'), send('b')];
    const stopped = catchRejection(send('a', controller.signal));
    await settle();
    expect(paused).to.equal(4);
    controller.abort();
    expect(await stopped).to.include({ retryable: false });
    for (let step = 0; step < 3; step++) {
      clock.advance(100);
      await settle();
    }
    await Promise.all(sent);
    expect(went).to.deep.equal(['a at 0', 'a at 100', 'b at 200', 'a at 300']);
    expect(paused).to.equal(0);
    expect(await catchRejection(send('a', controller.signal))).to.include({ retryable: false });
  });
});

describe('A leaky bucket', () => {
  it('holds its capacity at once, and then what leaks out of it', () => {
    const clock = new ManualClock();
    const bucket = new LeakyBucket(clock, 3, 2);
    expect([1, 2, 3, 4].map(() => bucket.add(1))).to.deep.equal([true, true, true, false]);
    clock.advance(500);
    expect([bucket.add(1), bucket.add(1)]).to.deep.equal([true, false]);
    clock.advance(3_600_000);
    expect(bucket.add(4)).to.equal(false);
    expect(bucket.add(3)).to.equal(true);
  });

  it('has room again for what was taken back', () => {
    const bucket = new LeakyBucket(new ManualClock(), 1, 1);
    expect(bucket.add(1)).to.equal(true);
    bucket.remove(1);
    expect(bucket.add(1)).to.equal(true);
  });

  it('never counts more than its capacity and what has leaked', () => {
    const step = fc.record({ waitMs: fc.nat(1000), amount: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
        const clock = new ManualClock();
        const bucket = new LeakyBucket(clock, 10, 5);
        let [counted, passedMs] = [0, 0];
        for (const { waitMs, amount } of steps) {
          clock.advance(waitMs);
          passedMs += waitMs;
          if (bucket.add(amount)) counted += amount;
          expect(counted).to.be.at.most(10 + (5 * passedMs) / 1000 + 1e-6);
        }
      }),
    );
  });
});
