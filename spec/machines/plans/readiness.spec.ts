import { expect } from 'chai';
import fc from 'fast-check';
import { type SubPipelineNeeds, Readiness } from '../../../machines/readiness.js';
import { plans } from '../random-plans.js';
import { cases } from '../../support/measuring/cases.js';

/** Repeatedly takes the first declared sub-pipeline whose needs are all taken. */
function sortNaively(subPipelines: readonly SubPipelineNeeds[]): string[] {
  const taken: string[] = [];
  const next = (): SubPipelineNeeds | undefined =>
    subPipelines.find(({ id, needs }) => !taken.includes(id) && needs.every((need) => taken.includes(need)));
  for (let found = next(); found !== undefined; found = next()) taken.push(found.id);
  return taken;
}

function readOrder(subPipelines: readonly SubPipelineNeeds[]): string[] {
  const readiness = new Readiness(subPipelines);
  const order: string[] = [];
  for (let id = readiness.next(); id !== undefined; id = readiness.next()) {
    order.push(id);
    readiness.release(id);
  }
  return order;
}

describe('Readiness (D45)', () => {
  it('returns the first declared sub-pipeline whose needs are met', () => {
    const placed = [
      { id: 'd', needs: ['a', 'b'] },
      { id: 'c', needs: [] },
      { id: 'a', needs: [] },
      { id: 'b', needs: ['a'] },
    ];
    expect(readOrder(placed)).to.deep.equal(['c', 'a', 'b', 'd']);
  });

  it('returns undefined while all that are left need one that has not succeeded', () => {
    const readiness = new Readiness([
      { id: 'a', needs: [] },
      { id: 'b', needs: ['a'] },
    ]);
    expect([readiness.next(), readiness.next()]).to.deep.equal(['a', undefined]);
    readiness.release('a');
    expect([readiness.next(), readiness.next()]).to.deep.equal(['b', undefined]);
  });

  it('returns the order of a naive implementation for every plan', () => {
    fc.assert(
      fc.property(plans, (subPipelines) => {
        const order = readOrder(subPipelines);
        expect(order).to.deep.equal(sortNaively(subPipelines));
        expect(order).to.have.length(subPipelines.length);
      }),
      cases(500),
    );
  });

  it('orders 20,000 sub-pipelines in linearithmic time', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => ({
      id: `s${index}`,
      needs: index === 0 ? [] : ['s0'],
    }));
    expect(readOrder(many)).to.deep.equal(many.map(({ id }) => id));
  });
});
