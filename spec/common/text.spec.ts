import { expect } from 'chai';
import { formatFirst, joinFirst } from '../../lib/common/text.js';

describe('formatFirst', () => {
  it('formats all items up to the maximum', () => {
    expect(formatFirst([1, 2], 2, (n) => `#${n}`)).to.deep.equal(['#1', '#2']);
  });

  it('counts the items beyond the maximum', () => {
    const items = Array.from({ length: 1236 }, (_, i) => `${i}`);
    expect(formatFirst(items, 2)).to.deep.equal(['0', '1', 'and 1,234 more']);
  });
});

describe('joinFirst', () => {
  it('joins all names up to the maximum', () => {
    expect(joinFirst(['a', 'b'], 2)).to.equal('a, b');
    expect(joinFirst([], 2)).to.equal('');
  });

  it('counts the names beyond the maximum', () => {
    expect(joinFirst(['a', 'b', 'c', 'd'], 2)).to.equal('a, b and 2 more');
  });
});
