import { expect } from 'chai';
import fc from 'fast-check';
import { MinHeap } from '../../../machines/readiness.js';

describe('MinHeap', () => {
  it('pops the smallest number, whatever the order of pushes and pops', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat(50))), (moves) => {
        const heap = new MinHeap();
        const plain: number[] = [];
        for (const move of moves) {
          if (move === null) {
            plain.sort((a, b) => a - b);
            expect(heap.pop()).to.equal(plain.shift());
          } else {
            heap.push(move);
            plain.push(move);
          }
        }
      }),
    );
  });
});
