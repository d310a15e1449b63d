import { expect } from 'chai';
import type { Json } from '../../../lib/common/json.js';
import { GivenValues, type Write } from '../../../lib/execution/session/given-values.js';

const write = (key: string, value: Json, append = false): Write => ({ key, value, append, weight: 0 });

describe('the values given for a run (Blackboard, rule 5; D23)', () => {
  it('are those that were given, the same object, as long as nobody writes to them', () => {
    const given = { a: 1, b: [2] };
    const values = new GivenValues(given);
    values.follow([write('other', 3)]);
    expect(values.present()).to.equal(given);
    expect(values.get('a')).to.equal(1);
    expect(values.get('constructor')).to.equal(undefined);
  });

  it('end with a plain write, and take appends', () => {
    const given = { a: 1, b: [2], c: 3, d: 4 };
    const values = new GivenValues(given);
    values.follow([
      write('a', 9),
      write('b', 5, true),
      write('b', 6, true),
      write('c', 7, true),
      write('c', 8),
    ]);
    expect(values.present()).to.deep.equal({ b: [2, 5, 6], d: 4 });
    expect(values.keys()).to.deep.equal(['a', 'b', 'c', 'd']);
    values.follow([write('a', 1, true), write('d', [], true)]);
    expect(values.present()).to.deep.equal({ b: [2, 5, 6], d: [4, []] });
    expect(given).to.deep.equal({ a: 1, b: [2], c: 3, d: 4 });
  });

  it('have any names', () => {
    const given = JSON.parse('{"__proto__": 1, "x": 2}') as Record<string, Json>;
    const values = new GivenValues(given);
    values.follow([write('x', 3, true)]);
    expect(Object.entries(values.present())).to.deep.equal([
      ['__proto__', 1],
      ['x', [2, 3]],
    ]);
  });
});
