import { expect } from 'chai';
import fc from 'fast-check';
import { retryDelayMs } from '../../../lib/execution/invocation/retry-delay.js';

const backoff = { baseMs: 500, maxMs: 4000, jitter: 0 };

describe('retryDelayMs (D18)', () => {
  it('doubles from the base up to the maximum', () => {
    const delays = [1, 2, 3, 4, 5, 100, 5000].map((retry) => retryDelayMs(retry, backoff, 0.5));
    expect(delays).to.deep.equal([500, 1000, 2000, 4000, 4000, 4000, 4000]);
  });

  it('varies by the jitter in both directions', () => {
    expect(retryDelayMs(1, { ...backoff, jitter: 0.2 }, 0)).to.equal(400);
    expect(retryDelayMs(1, { ...backoff, jitter: 0.2 }, 1)).to.equal(600);
  });

  it('caps the first delay too', () => {
    expect(retryDelayMs(1, { ...backoff, maxMs: 100 }, 0.5)).to.equal(100);
  });

  it('is never negative and never above the maximum', () => {
    const seconds = fc.double({ min: 0, max: 1e6, noNaN: true });
    const fraction = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2000 }),
        seconds,
        seconds,
        fraction,
        fraction,
        (retry, baseMs, maxMs, jitter, random) => {
          const delay = retryDelayMs(retry, { baseMs, maxMs, jitter }, random);
          expect(delay).to.be.within(0, maxMs);
        },
      ),
    );
  });

  it('differs from the delay without jitter by the jitter at most', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (retry, random) => {
          const plain = retryDelayMs(retry, backoff, 0.5);
          expect(retryDelayMs(retry, { ...backoff, jitter: 0.3 }, random)).to.be.within(
            plain * 0.7 - 1e-9,
            plain * 1.3 + 1e-9,
          );
        },
      ),
    );
  });
});
