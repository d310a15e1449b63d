import { expect } from 'chai';
import { checkAnswer } from '../../lib/compile/check-answer.js';
import { checkToEnd } from '../../lib/definition/text/source.js';
import { formatProblem } from '../../lib/definition/problems/problem.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import { GOOD, type Mutation, MUTATIONS } from './mutations.js';

const catalog = builtinCatalog();

describe('The validator, on typical mistakes of language models (D8)', () => {
  it('finds nothing wrong with the pipeline that is mutated', () => {
    expect(checkToEnd(checkAnswer(GOOD, catalog))).to.deep.include({ ok: true, problems: [] });
  });

  for (const mutation of MUTATIONS) {
    it(`rejects or warns of ${mutation.what}, and names the cure`, () => {
      const messages = problemsOf(mutation).map(formatProblem);
      expect(messages).not.to.deep.equal([]);
      expect(
        messages.some((message) => mutation.cure.test(message)),
        messages.join('\n'),
      ).to.equal(true);
    });
  }

  it('knows 76 mistakes, and points at the line of 71: at the others in the line that shows them', () => {
    expect(MUTATIONS).to.have.length(76);
    const elsewhere = MUTATIONS.filter((mutation) => !pointsAt(mutation)).map(({ what }) => what);
    expect(elsewhere).to.deep.equal([
      'a fan-out without item',
      'no await before a session value',
      'a cycle',
      'no goal',
      'a quote that is not closed',
    ]);
    expect(
      MUTATIONS.filter((mutation) => problemsOf(mutation).some(({ line }) => line === undefined)),
    ).to.deep.equal([]);
  });
});

function problemsOf({ from, to }: Mutation) {
  expect(GOOD).to.contain(from);
  return checkToEnd(
    checkAnswer(
      GOOD.replace(from, () => to),
      catalog,
    ),
  ).problems;
}

function pointsAt(mutation: Mutation): boolean {
  const first = GOOD.slice(0, GOOD.indexOf(mutation.from)).split('\n').length;
  const last = first + mutation.to.split('\n').length - 1;
  return problemsOf(mutation).some(({ line = 0 }) => line >= first && line <= last);
}
