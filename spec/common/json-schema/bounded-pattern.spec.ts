import { expect } from 'chai';
import fc from 'fast-check';
import { compilePattern, linearRegex } from '../../../lib/common/json-schema/bounded-pattern.js';
import { cases } from '../../support/measuring/cases.js';

/** Patterns with characters, classes, groups, alternatives and nested repetitions. */
const pattern: fc.Arbitrary<string> = fc.letrec<{ part: string; sequence: string }>((tie) => {
  const character = fc.constantFrom(
    'a',
    '.',
    '\\d',
    '\\.',
    '[a-z]',
    '[^a-c\\]]',
    '[]x]',
    '\\p{L}',
    '(?:b)',
    '\\b',
  );
  const count = fc.constantFrom('?', '*', '+', '{3}', '{0,4}', '{2,}', '{1,20}', '{5}?');
  return {
    part: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      character,
      fc.tuple(character, count).map(([one, times]) => one + times),
      fc
        .tuple(tie('sequence'), fc.oneof(fc.constant(''), count))
        .map(([inner, times]) => `(${inner})${times}`),
      fc.tuple(tie('sequence'), tie('sequence')).map(([left, right]) => `(?:${left}|${right})`),
    ),
    sequence: fc.array(tie('part'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
  };
}).sequence;

describe('compilePattern (D4)', () => {
  it('charges at least the instructions of the compiled pattern, which it estimates before it compiles', () => {
    fc.assert(
      fc.property(pattern, (text) => {
        let charged = 0;
        const takeForPattern = (steps: number): boolean => {
          charged = steps;
          return true;
        };
        const compiled = compilePattern(text, { take: () => true, takeForPattern });
        fc.pre(compiled.ok);
        expect(charged / 100).to.be.at.least(linearRegex(text).programSize());
      }),
      cases(500),
    );
  });

  it('charges one step for each character of a text if the pattern needs one pass only', () => {
    let charged = 0;
    const take = (steps: number): boolean => {
      charged = steps;
      return true;
    };
    const anchored = compilePattern('^[A-Za-z0-9_-]{1,128}$', { take, takeForPattern: () => true });
    expect(anchored.ok && anchored.test('a'.repeat(100))).to.equal(true);
    expect(charged).to.equal(101);
    const free = compilePattern('a[ab]{99}$', { take, takeForPattern: () => true });
    expect(free.ok && free.test('ab'.repeat(100))).to.equal(true);
    expect(charged).to.be.greaterThan(100 * 200);
  });

  it('compiles patterns that count to a thousand once, and refuses longer ones', () => {
    const budget = { take: () => true, takeForPattern: () => true };
    expect(compilePattern('^[a-z]{1,1000}$', budget)).to.have.property('ok', true);
    for (const text of ['a{1000}{1000}', '((a{20}){20}){20}', 'a'.repeat(10_000), '[a-z]{1000}'.repeat(3)]) {
      expect(compilePattern(text, budget)).to.have.property('ok', false);
    }
  });
});
