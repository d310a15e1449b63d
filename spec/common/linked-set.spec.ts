import { expect } from 'chai';
import fc from 'fast-check';
import { LinkedSet } from '../../lib/common/linked-set.js';

describe('LinkedSet', () => {
  it('keeps the order of a Set, in both directions, whatever is added and deleted', () => {
    const step = fc.record({ adds: fc.boolean(), value: fc.nat(8) });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const linked = new LinkedSet<number>();
        const expected = new Set<number>();
        for (const { adds, value } of steps) {
          if (adds) {
            expect(linked.add(value)).to.equal(!expected.has(value));
            expected.add(value);
          } else expect(linked.delete(value)).to.equal(expected.delete(value));
          expect([...linked]).to.deep.equal([...expected]);
          expect([...linked.backwards()]).to.deep.equal([...expected].toReversed());
          expect([linked.first, linked.size]).to.deep.equal([[...expected][0], expected.size]);
        }
      }),
    );
  });
});
