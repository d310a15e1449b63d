import { expect } from 'chai';
import { UsageError } from '../../../lib/cli/input/usage-errors.js';
import { type NumberRule, readDuration, readNumber } from '../../../lib/cli/input/flags.js';

describe('readNumber', () => {
  const seconds: NumberRule = { least: 0, above: true, unit: 'seconds', example: '2.5' };
  const fraction: NumberRule = { least: 0, most: 1, unit: 'fraction', example: '0.2' };
  const count: NumberRule = { least: 1, whole: true, unit: 'items', example: '8' };

  it('returns undefined without the flag', () => {
    expect(readNumber('--timeout', undefined, seconds)).to.equal(undefined);
  });

  for (const [given, rule, value] of [
    ['2.5', seconds, 2.5],
    ['.5', seconds, 0.5],
    ['1e3', seconds, 1000],
    ['0', fraction, 0],
    ['1', fraction, 1],
    ['8', count, 8],
  ] as const) {
    it(`accepts ${given} as ${rule.unit}`, () => expect(readNumber('--flag', given, rule)).to.equal(value));
  }

  for (const [given, rule] of [
    ['0', seconds],
    ['-1', seconds],
    ['2s', seconds],
    ['', seconds],
    ['Infinity', seconds],
    ['0x10', seconds],
    ['1e999', seconds],
    ['1.1', fraction],
    ['0', count],
    ['2.5', count],
    ['99999999999999999999', count],
  ] as const) {
    it(`rejects "${given}" as ${rule.unit}`, () => {
      expect(() => readNumber('--flag', given, rule)).to.throw(UsageError, `not "${given}"`);
    });
  }

  it('describes the accepted numbers and gives an example (D40)', () => {
    try {
      readNumber('--jitter', 'much', fraction);
      expect.fail('accepted');
    } catch (error) {
      expect(error).to.be.instanceOf(UsageError);
      expect((error as UsageError).message).to.equal(
        '--jitter must be a number from 0 to 1 (fraction), not "much"',
      );
      expect((error as UsageError).hint).to.equal('for example --jitter 0.2');
    }
  });
});

describe('readDuration (D82)', () => {
  const rule: NumberRule = { least: 0, above: true, unit: 'seconds, or as in 5m', example: '30' };

  it('returns numbers as seconds, and texts as they were written', () => {
    expect(readDuration('--timeout', undefined, rule)).to.equal(undefined);
    expect(readDuration('--timeout', '2.5', rule)).to.equal(2.5);
    expect(readDuration('--timeout', ' 1h30m ', rule)).to.equal('1h30m');
    expect(readDuration('--timeout', '1ms', rule)).to.equal('1ms');
  });

  for (const given of ['0s', '0', '5 m', '5x', '-5m', '']) {
    it(`rejects "${given}"`, () => {
      const message = `--timeout must be a number above 0 (seconds, or as in 5m), not "${given}"`;
      expect(() => readDuration('--timeout', given, rule)).to.throw(UsageError, message);
    });
  }
});
