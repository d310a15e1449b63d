import { expect } from 'chai';
import { summarize } from '../../../lib/runs/inspection/summarize.js';

describe('The summary of a value for an inspector', () => {
  const cases: [string, unknown, unknown][] = [
    ['keeps JSON as it is', { a: [1, 'b', null, true] }, { a: [1, 'b', null, true] }],
    ['replaces a function by its name', { run: function begin() {} }, { run: { type: 'begin' } }],
    ['keeps name and message of an error', new TypeError('no'), { name: 'TypeError', message: 'no' }],
    ['shows a Map as an object and a Set as a list', [new Map([['k', 1]]), new Set([2])], [{ k: 1 }, [2]]],
    ['uses toJSON', { toJSON: () => 'short' }, 'short'],
    ['leaves out what is undefined', { a: undefined, b: 1 }, { b: 1 }],
    ['keeps a key such as __proto__ as data', JSON.parse('{"__proto__": 1}'), JSON.parse('{"__proto__": 1}')],
  ];
  for (const [title, value, summary] of cases) {
    it(title, () => expect(summarize(value, 1000)).to.deep.equal(summary));
  }

  it('stops at about its limit, whatever is long, and looks at no more of the value', () => {
    let read = 0;
    const list = Array.from({ length: 100_000 }, () => ({
      get text() {
        read++;
        return 'x'.repeat(100);
      },
    }));
    expect(JSON.stringify(summarize(list, 4000)).length).to.be.within(4000, 6000);
    expect(read).to.be.below(50);
    expect(summarize(list, 0)).to.deep.equal('…');
    const keys = Object.fromEntries(Array.from({ length: 10_000 }, (_, key) => [`key${key}`, key]));
    expect(summarize(keys, 100)).to.include({ key0: 0, '…': 'and more' });
    expect(JSON.stringify(summarize('x'.repeat(5_000_000), 4000)).length).to.be.below(1100);
  });

  it('ends at a cycle', () => {
    const loop: { self?: unknown } = {};
    loop.self = loop;
    expect(JSON.stringify(summarize(loop, 4000))).to.include('"…"');
  });
});
