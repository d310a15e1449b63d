import { expect } from 'chai';
import { formatTook } from '../../../web/shared/model/format.js';

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
