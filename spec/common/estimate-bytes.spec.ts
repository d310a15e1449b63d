import { expect } from 'chai';
import { estimateBytes, estimateBytesInSteps } from '../../lib/common/json.js';
import { runToEnd } from '../../lib/common/steps.js';

describe('estimateBytesInSteps', () => {
  const lists = Array.from({ length: 50_000 }, (_, index) => ({ index, tags: ['a', 'b'] }));

  it('returns what estimateBytes returns', () => {
    for (const value of [null, 1, 'text', [], {}, { a: [true, { b: 'text' }], c: undefined }, lists]) {
      expect(runToEnd(estimateBytesInSteps(value))).to.equal(estimateBytes(value));
    }
    expect(estimateBytes(['text', 1])).to.equal(estimateBytes([]) + estimateBytes('text') + estimateBytes(1));
  });

  it('visits some thousand lists and objects in a step, so that a large value holds no event loop', () => {
    expect([...estimateBytesInSteps(lists)].length).to.be.within(20, 21);
  });
});
