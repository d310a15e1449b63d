import { expect } from 'chai';
import fc from 'fast-check';
import { SmallestFirst } from '../../machines/readiness.js';

describe('SmallestFirst', () => {
  it('gives the smallest of what it holds, however numbers come and go', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat(50))), (moves) => {
        const heap = new SmallestFirst();
        const plain: number[] = [];
        for (const move of moves) {
          if (move === null) {
            plain.sort((a, b) => a - b);
            expect(heap.take()).to.equal(plain.shift());
          } else {
            heap.add(move);
            plain.push(move);
          }
        }
      }),
    );
  });
});
