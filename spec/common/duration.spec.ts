import { expect } from 'chai';
import fc from 'fast-check';
import { DURATION_PATTERN, durationToMs, parseDuration, UNIT_MS } from '../../lib/common/duration.js';
import { cases } from '../support/measuring/cases.js';

/** Writes milliseconds with the largest units that fit. */
function format(ms: number): string {
  let rest = ms;
  const parts = Object.entries(UNIT_MS).map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? '' : `${count}${unit}`;
  });
  return parts.join('') || '0s';
}

describe('A duration as text (D82)', () => {
  const valid: readonly [text: string, ms: number][] = [
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['2d', 172_800_000],
    ['250ms', 250],
    ['1.5s', 1500],
    ['1d2h3m4s5ms', 93_784_005],
    ['90m', 5_400_000],
    ['0s', 0],
    ['5m1ms', 300_001],
    ['0.5d', 43_200_000],
  ];
  for (const [text, ms] of valid) {
    it(`${text} is ${ms} ms`, () => {
      expect(parseDuration(text)).to.equal(ms);
      expect(durationToMs(text)).to.equal(durationToMs(ms / 1000));
      expect(new RegExp(DURATION_PATTERN).test(text)).to.equal(true);
    });
  }

  const invalid = [
    '',
    ' ',
    '5',
    '1.5',
    's',
    '5x',
    '5 minutes',
    '5 m',
    ' 5m',
    '5m ',
    '5m\n',
    '5M',
    '30m1h',
    '1h1h',
    '-5s',
    '+5s',
    '1e3s',
    '.5s',
    '5.s',
    '1w',
    '1y',
    'P1D',
    '1,5s',
    '٥s',
    '{{params.t}}',
    `${'9'.repeat(10)}s`,
    '1d'.repeat(10_000),
  ];
  for (const text of invalid) {
    it(`${JSON.stringify(text.slice(0, 20))} is none`, () => {
      expect(parseDuration(text)).to.equal(undefined);
      expect(durationToMs(text)).to.equal(undefined);
      expect(new RegExp(DURATION_PATTERN).test(text)).to.equal(text === '');
    });
  }

  it('is read as what was written', () => {
    const milliseconds = fc.integer({ min: 0, max: 10 * 365 * UNIT_MS.d });
    fc.assert(
      fc.property(milliseconds, (ms) => parseDuration(format(ms)) === ms),
      cases(500),
    );
  });

  it('as a number is in seconds', () => {
    expect(durationToMs(1.5)).to.equal(1500);
    expect(durationToMs(0)).to.equal(0);
  });
});
