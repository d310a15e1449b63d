import { expect } from 'chai';
import type { Json } from '../../../../lib/common/json/json.js';
import { runToEnd } from '../../../../lib/common/scheduling/steps.js';
import { toTableInSteps } from '../../../../lib/tools/files/export/table.js';

const CELLS = 100_000;

function countSteps(data: Json): number {
  let steps = 0;
  for (const _ of toTableInSteps(data)) steps++;
  return steps;
}

describe('The table that export makes of data (D25, D63)', () => {
  for (const [title, data] of Object.entries<Json>({
    'many lists': Array.from({ length: CELLS / 10 }, () => new Array<Json>(10).fill(1)),
    'one long list': [new Array<Json>(CELLS).fill(1)],
    'empty lists': Array.from({ length: CELLS }, () => []),
    'an object': Object.fromEntries(Array.from({ length: CELLS / 2 }, (_, index) => [`k${index}`, index])),
    'many texts': new Array<Json>(CELLS).fill('x'),
    'a wide object': [Object.fromEntries(Array.from({ length: CELLS }, (_, index) => [`k${index}`, index]))],
    'empty objects': Array.from({ length: CELLS }, () => ({})),
  })) {
    it(`is made in steps of ${title}`, () => {
      expect(countSteps(data)).to.be.at.least(CELLS / 5000);
    });
  }

  it('has JSON in the cells of lists that are not all lists', () => {
    const { columns, rows } = runToEnd(toTableInSteps(['p', ['q', 'r'], { s: 1 }]));
    expect(columns).to.deep.equal(['value']);
    expect(rows).to.deep.equal([['p'], ['["q","r"]'], ['{"s":1}']]);
  });

  it('has at most 4,000,000 cells and rows, so that it does not take many times the memory of its data', () => {
    const rows = new Array<Json>(40).fill(new Array<Json>(100_000).fill(1));
    expect(() => runToEnd(toTableInSteps(rows))).to.throw('more than 4000000 cells and rows');
  });
});
