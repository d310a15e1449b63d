import { expect } from 'chai';
import fc from 'fast-check';
import { LinkedMap } from '../../../lib/common/memory/linked-map.js';

describe('LinkedMap', () => {
  it('keeps the order of a Map, in both directions, whatever is added and deleted', () => {
    const step = fc.record({ adds: fc.boolean(), key: fc.nat(8) });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const linked = new LinkedMap<number, string>();
        const expected = new Map<number, string>();
        for (const { adds, key } of steps) {
          if (adds) {
            expect(linked.add(key, `value ${key}`)).to.equal(!expected.has(key));
            expected.set(key, `value ${key}`);
          } else expect(linked.delete(key)).to.equal(expected.delete(key));
          const values = [...expected.values()];
          expect([...linked]).to.deep.equal(values);
          expect([...linked.backwards()]).to.deep.equal(values.toReversed());
          expect([linked.first, linked.size]).to.deep.equal([values[0], expected.size]);
          expect([linked.get(key), linked.has(key)]).to.deep.equal([expected.get(key), expected.has(key)]);
        }
      }),
    );
  });
});
