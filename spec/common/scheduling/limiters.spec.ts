import { expect } from 'chai';
import fc from 'fast-check';
import { setImmediate as nextTick } from 'node:timers/promises';
import { ToolError } from '../../../lib/common/errors.js';
import { ConcurrencyLimiter, LeakyBucket, RateLimiter } from '../../../lib/common/scheduling/limiters.js';
import { type Deferred, deferred, settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';
import { catchRejection } from '../../support/rejection.js';
import { toolContext } from '../../support/tool-context.js';

describe('ConcurrencyLimiter', () => {
  it('lets a number of attempts work at once, pauses the time limit of those that wait, and serves tenants in turn', async () => {
    const limiter = new ConcurrencyLimiter({ total: 1 });
    const log: string[] = [];
    const gates = new Map<string, Deferred<void>>();
    const enter = (tenantId: string, name: string): Promise<void> => {
      const pauseTimeout = () => {
        log.push(`${name} waits`);
        return () => void log.push(`${name} goes on`);
      };
      return limiter.run({ ...toolContext({ tenant_id: tenantId }), pauseTimeout }, () => {
        log.push(name);
        const gate = deferred<void>();
        gates.set(name, gate);
        return gate.promise;
      });
    };
    const all = [enter('a', 'a1'), enter('a', 'a2'), enter('a', 'a3'), enter('b', 'b1')];
    for (const name of ['a1', 'a2', 'b1', 'a3']) {
      while (!gates.has(name)) await nextTick();
      gates.get(name)?.resolve(undefined);
    }
    await Promise.all(all);
    expect(log.filter((entry) => entry.length === 2)).to.deep.equal(['a1', 'a2', 'b1', 'a3']);
    expect(log.filter((entry) => entry.startsWith('a2'))).to.deep.equal(['a2 waits', 'a2 goes on', 'a2']);
    expect(log).not.to.include('a1 waits');
  });

  it('drops an attempt that is aborted while it waits', async () => {
    const limiter = new ConcurrencyLimiter({ total: 1 });
    const gate = deferred<void>();
    const first = limiter.run(toolContext(), () => gate.promise);
    const context = toolContext();
    const second = catchRejection(limiter.run(context, () => Promise.resolve()));
    context.abort();
    expect(await second).to.be.instanceOf(ToolError);
    gate.resolve(undefined);
    await first;
    expect(await limiter.run(toolContext(), () => Promise.resolve('in'))).to.equal('in');
  });
});

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
