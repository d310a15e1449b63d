import { expect } from 'chai';
import * as fc from 'fast-check';
import { nearest, Suggestions } from '../../lib/definition/did-you-mean.js';

describe('nearest', () => {
  const cases: [string, string[], string | undefined][] = [
    ['sesion', ['params', 'session'], 'session'],
    ['outptu', ['output'], 'output'],
    ['fetch_dtaa', ['fetch_data', 'fetch'], 'fetch_data'],
    ['Output', ['output'], 'output'],
    ['OUTPUT', ['outputs', 'output'], 'output'],
    ['fetch_data', ['fetch_dxtx', 'fetch_date', 'fetch_xatx'], 'fetch_date'],
    ['ab', ['a'], 'a'],
    ['a', ['ab'], 'ab'],
    ['gaol', ['goal', 'id'], 'goal'],
    ['retries', ['retry', 'timeout'], 'retry'],
    // too far
    ['lnga', ['goal'], undefined],
    ['summary', ['session'], undefined],
    ['zz', ['ab'], undefined],
    // nothing of the word would be left
    ['z', ['k'], undefined],
    ['anything', [], undefined],
  ];
  for (const [word, known, expected] of cases) {
    it(`finds ${expected ?? 'nothing'} for ${word} among ${known.join(', ') || 'no names'}`, () => {
      expect(nearest(word, known)).to.equal(expected);
    });
  }

  it('prefers the same case among equally close names, then the first', () => {
    expect(nearest('Nmae', ['nme', 'Nme'])).to.equal('Nme');
    expect(nearest('tast', ['task', 'test'])).to.equal('task');
  });

  it('accepts any iterable', () => {
    expect(nearest('documen', new Set(['load', 'document']))).to.equal('document');
    expect(nearest('documen', new Map([['document', 1]]).keys())).to.equal('document');
  });

  it('finds a name with one letter changed among 10,000 names', () => {
    const known = Array.from({ length: 10_000 }, (_, index) => `task_number_${index}`);
    expect(nearest('tosk_number_9999', known)).to.equal('task_number_9999');
  });

  it('compares as many names as cost little, in one check of a definition', () => {
    const known = Array.from({ length: 40_000 }, (_, index) => `task_number_${index}`);
    let compared = 0;
    const counted = {
      *[Symbol.iterator]() {
        for (const name of known) {
          compared++;
          yield name;
        }
      },
    };
    const suggestions = new Suggestions();
    expect(suggestions.nearest('tosk_number_17', counted)).to.equal('task_number_17');
    for (let count = 0; count < 1000; count++) suggestions.nearest('tosk_number_17', counted);
    expect(compared).to.be.at.most(1_000_000);
  });

  it('ignores a word that is too long to be a typing mistake', () => {
    expect(nearest('a'.repeat(100_000), ['a'.repeat(100_001)])).to.equal(undefined);
  });

  it('returns only known names', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (word, known) => {
        const found = nearest(word, known);
        expect(found === undefined || known.includes(found)).to.equal(true);
      }),
    );
  });
});
