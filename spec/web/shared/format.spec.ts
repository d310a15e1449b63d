import { expect } from 'chai';
import {
  formatBytes,
  formatPeriod,
  formatSince,
  formatTime,
  formatTook,
} from '../../../web/shared/model/format.js';

describe('How long something took', () => {
  it('is never as much as the next unit', () => {
    expect([999.4, 999.6, 59_940, 59_960, 3_599_960].map(formatTook)).to.deep.equal([
      '999 ms',
      '1.0 s',
      '59.9 s',
      '1 min 0 s',
      '1 h 0 min',
    ]);
  });
});

describe('Since when, and for how long, runs are kept', () => {
  it('is a date, with its time when that is less than a day ago', () => {
    const iso = '2026-10-28T10:00:00.000Z';
    expect(formatSince(iso, Date.parse(iso) + 86_399_999)).to.equal(formatTime(iso));
    const date = formatSince(iso, Date.parse(iso) + 86_400_000);
    expect(formatTime(iso).startsWith(date)).to.equal(true);
    expect(date).not.to.equal(formatTime(iso));
  });

  it('is a period in the largest unit that has no rest', () => {
    expect([2_592_000, 86_400, 3600, 5400, 90].map(formatPeriod)).to.deep.equal([
      '30 days',
      '1 day',
      '1 hour',
      '90 minutes',
      '90 seconds',
    ]);
    expect([1.5e9, 1.5e6].map(formatBytes)).to.deep.equal(['1.5 GB', '1.5 MB']);
  });
});
