import { expect } from 'chai';
import { estimateBytes, estimateBytesInSteps } from '../../lib/common/json/json.js';
import { runToEnd } from '../../lib/common/scheduling/steps.js';

describe('estimateBytesInSteps', () => {
  const lists = Array.from({ length: 50_000 }, (_, index) => ({ index, tags: ['a', 'b'] }));

  it('returns what estimateBytes returns', () => {
    for (const value of [null, 1, 'text', [], {}, { a: [true, { b: 'text' }], c: undefined }, lists]) {
      expect(runToEnd(estimateBytesInSteps(value))).to.equal(estimateBytes(value));
    }
    expect(estimateBytes(['text', 1])).to.equal(estimateBytes([]) + estimateBytes('text') + estimateBytes(1));
  });

  it('visits some thousand members in a step, so that no large value holds the event loop', () => {
    const flat = Array.from({ length: 200_000 }, (_, index) => index);
    const keys = Object.fromEntries(flat.map((index) => [`key ${index}`, index]));
    for (const value of [lists, flat, keys, [[], flat]]) {
      expect([...estimateBytesInSteps(value)].length).to.be.within(10, 18);
    }
  });
});
