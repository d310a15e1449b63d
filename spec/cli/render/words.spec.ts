import { expect } from 'chai';
import { duration, grouped, plural } from '../../../lib/cli/render/text.js';

describe('words for people', () => {
  for (const [count, words] of [
    [0, '0'],
    [999, '999'],
    [1000, '1,000'],
    [1234567, '1,234,567'],
  ] as const) {
    it(`group ${count} as ${words}`, () => expect(grouped(count)).to.equal(words));
  }

  it('count one and many', () => {
    expect(plural(1, 'task')).to.equal('1 task');
    expect(plural(0, 'task')).to.equal('0 tasks');
    expect(plural(1003, 'item')).to.equal('1,003 items');
  });

  for (const [ms, words] of [
    [-1, '0 ms'],
    [12.4, '12 ms'],
    [99, '99 ms'],
    [100, '0.1 s'],
    [1500, '1.5 s'],
    [9949, '9.9 s'],
    [9950, '10 s'],
    [59_400, '59 s'],
    [59_600, '1 min 0 s'],
    [125_000, '2 min 5 s'],
    [3_780_000, '1 h 3 min'],
  ] as const) {
    it(`tell ${ms} milliseconds as ${words}`, () => expect(duration(ms)).to.equal(words));
  }
});
