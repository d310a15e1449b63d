import { expect } from 'chai';
import fc from 'fast-check';
import { retryDelayMs, taskBackoff } from '../../../lib/execution/invocation/retry-delay.js';

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

  it('waits at least as long as a server asked, up to a minute or the maximum (D62)', () => {
    expect(retryDelayMs(1, backoff, 0.5, 300)).to.equal(500);
    expect(retryDelayMs(1, backoff, 0.5, 7000)).to.equal(7000);
    expect(retryDelayMs(1, backoff, 0.5, 3_600_000)).to.equal(60_000);
    expect(retryDelayMs(1, { ...backoff, maxMs: 120_000 }, 0.5, 3_600_000)).to.equal(120_000);
    expect(retryDelayMs(1, backoff, 0.5, Number.POSITIVE_INFINITY)).to.equal(60_000);
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

  it('is at most what a timer of Node.js can wait, and a number, however long the delays are', () => {
    const huge = { baseMs: Number.POSITIVE_INFINITY, maxMs: Number.POSITIVE_INFINITY, jitter: 1 };
    for (const random of [0, 0.5, 1]) {
      expect(retryDelayMs(3, huge, random)).to.be.within(0, 2 ** 31 - 1);
    }
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

describe('taskBackoff (D66)', () => {
  const delay = fc.double({ min: 0, max: 1e6, noNaN: true });
  const own = fc.option(delay, { nil: undefined });

  it('is that of the run for a task that says nothing', () => {
    expect(taskBackoff({ retryDelayMs: undefined, maxRetryDelayMs: undefined }, backoff)).to.equal(backoff);
  });

  it('keeps what the task says, and takes the rest from the run', () => {
    fc.assert(
      fc.property(own, own, delay, delay, (retryDelay, maxRetryDelay, baseMs, maxMs) => {
        const task = { retryDelayMs: retryDelay, maxRetryDelayMs: maxRetryDelay };
        const result = taskBackoff(task, { baseMs, maxMs, jitter: 0.5 });
        expect(result.baseMs).to.equal(retryDelay ?? baseMs);
        expect(result.maxMs).to.equal(maxRetryDelay ?? Math.max(maxMs, retryDelay ?? 0));
        expect(result.jitter).to.equal(0.5);
      }),
    );
  });

  it('never cuts the delay of a task to the maximum of the run', () => {
    fc.assert(
      fc.property(delay, delay, fc.integer({ min: 1, max: 100 }), (retryDelay, maxMs, retry) => {
        const task = { retryDelayMs: retryDelay, maxRetryDelayMs: undefined };
        const ms = retryDelayMs(retry, taskBackoff(task, { baseMs: 500, maxMs, jitter: 0 }), 0.5);
        expect(ms).to.be.within(retryDelay, Math.max(maxMs, retryDelay));
      }),
    );
  });
});
