import { expect } from 'chai';
import { UNPROVED_LIMITS } from '../../../lib/common/limits.js';
import { WebhookFailures } from '../../../lib/library/webhooks/webhook-failures.js';
import { ManualClock } from '../../support/manual-clock.js';

const { failedBytes, failedHeadBytes, failedWindowMs, addresses } = UNPROVED_LIMITS;

describe('What requests to webhooks that are not accepted have cost (D71)', () => {
  let clock: ManualClock;
  let failures: WebhookFailures;
  beforeEach(() => {
    clock = new ManualClock();
    failures = new WebhookFailures(clock);
  });

  const isRefused = (address: string): boolean => {
    try {
      failures.assertFew(address);
      return false;
    } catch (error) {
      expect(error).to.include({ code: 'too_many_failures' });
      return true;
    }
  };

  it('is limited for each address, in bytes, until the minute is over', () => {
    failures.add('a', failedBytes - failedHeadBytes - 1);
    expect(isRefused('a')).to.equal(false);
    failures.add('a', 0);
    expect([isRefused('a'), isRefused('b')]).to.deep.equal([true, false]);
    clock.advance(failedWindowMs);
    expect(isRefused('a')).to.equal(false);
  });

  it('is one sum for all addresses beyond those that are counted one by one', () => {
    for (let count = 0; count < addresses; count++) failures.add(`known ${count}`, 0);
    failures.add('x', failedBytes);
    expect([isRefused('x'), isRefused('y'), isRefused('known 1')]).to.deep.equal([true, true, false]);
  });
});
