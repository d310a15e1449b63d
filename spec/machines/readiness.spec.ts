import { expect } from 'chai';
import fc from 'fast-check';
import { type Needing, Readiness } from '../../machines/readiness.js';
import { plans } from './random-plans.js';

/** By the definition: again and again the first declared of those whose needs are all taken. */
function naiveOrder(subPipelines: readonly Needing[]): string[] {
  const taken: string[] = [];
  const next = (): Needing | undefined =>
    subPipelines.find(({ id, needs }) => !taken.includes(id) && needs.every((need) => taken.includes(need)));
  for (let found = next(); found !== undefined; found = next()) taken.push(found.id);
  return taken;
}

function orderOf(subPipelines: readonly Needing[]): string[] {
  const readiness = new Readiness(subPipelines);
  const order: string[] = [];
  for (let id = readiness.next(); id !== undefined; id = readiness.next()) {
    order.push(id);
    readiness.release(id);
  }
  return order;
}

describe('which sub-pipeline is next (D45)', () => {
  it('is the first declared of those whose needs are met', () => {
    const placed = [
      { id: 'd', needs: ['a', 'b'] },
      { id: 'c', needs: [] },
      { id: 'a', needs: [] },
      { id: 'b', needs: ['a'] },
    ];
    expect(orderOf(placed)).to.deep.equal(['c', 'a', 'b', 'd']);
  });

  it('is none while all that are left wait for one that has not succeeded', () => {
    const readiness = new Readiness([
      { id: 'a', needs: [] },
      { id: 'b', needs: ['a'] },
    ]);
    expect([readiness.next(), readiness.next()]).to.deep.equal(['a', undefined]);
    readiness.release('a');
    expect([readiness.next(), readiness.next()]).to.deep.equal(['b', undefined]);
  });

  it('is, for every plan, what the definition says', () => {
    fc.assert(
      fc.property(plans, (subPipelines) => {
        const order = orderOf(subPipelines);
        expect(order).to.deep.equal(naiveOrder(subPipelines));
        expect(order).to.have.length(subPipelines.length);
      }),
      { numRuns: 500 },
    );
  });

  it('is found as quickly among many as among few', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => ({
      id: `s${index}`,
      needs: index === 0 ? [] : ['s0'],
    }));
    expect(orderOf(many)).to.deep.equal(many.map(({ id }) => id));
  });
});
