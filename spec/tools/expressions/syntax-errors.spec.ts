import { expect } from 'chai';
import { Evaluator } from '../../../lib/tools/expressions/evaluate.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';

describe('Evaluator.findProblems: the syntax (D49)', () => {
  const evaluator = new Evaluator();
  const syntaxErrorIn = (source: string): string | undefined =>
    evaluator.findProblems(source, 'any')[0]?.message.replace('is not a JSONata expression: ', '');

  const wrong: [source: string, error: string][] = [
    ['$sum(', 'Expected ")" before end of expression (at character 5)'],
    ['{"a": 1', 'Expected "}" before end of expression (at character 7)'],
    ['a b', 'Syntax error: "b" (at character 3)'],
    ['/x', 'No terminating / in regular expression (at character 2)'],
    [
      '$ {\n  customer: $sum(price)\n',
      'Expected "}" before end of expression (at line 2 of the expression, character 23)',
    ],
    ['(\n  $a := 1\n  $b)\n', 'Expected ")", got "b" (at line 3 of the expression, character 4)'],
    ['"x', 'String literal must be terminated by a matching quote (at character 2)'],
  ];
  for (const [source, error] of wrong) {
    it(`describes the one in ${source}`, () => {
      expect(syntaxErrorIn(source)).to.equal(error);
    });
  }

  it('describes an invalid regular expression', () => {
    expect(syntaxErrorIn('$match(a, /[b-a]/)')).to.match(/^Invalid regular expression/);
  });

  it('finds none in a valid expression, and forgets that of the one before', () => {
    expect(syntaxErrorIn('$ { customer: $round($sum(price), 2) }')).to.equal(undefined);
  });

  it('evaluates nothing', () => {
    expect(syntaxErrorIn('($f := function(){$f()}; $f())')).to.equal(undefined);
    expect(syntaxErrorIn('$error("now")')).to.equal(undefined);
  });

  it('leaves the sandbox unused: what is parsed has no effect on what is evaluated', () => {
    expect(syntaxErrorIn('$x := 5')).to.equal(undefined);
    expect(evaluator.evaluate('[$exists($x), $sum(a)]', { a: [1, 2] }, {}, 'run')).to.deep.equal([false, 3]);
    expect(syntaxErrorIn('$y := (')).to.be.a('string');
    expect(evaluator.evaluate('$exists($y)', null, {}, 'run')).to.equal(false);
  });

  it('reports nothing about nesting that another stack may hold', () => {
    expect(syntaxErrorIn('('.repeat(9000))).to.equal(undefined);
  });

  const long: [title: string, source: string][] = [
    ['a path of 5,000 steps', `${'a.'.repeat(4999)}a`],
    ['5,000 parents', `a.b${'.%'.repeat(4997)}`],
    ['1,000,000 operators', `${'1+'.repeat(500_000)}1`],
    ['3,000 conditions', `${'a?'.repeat(3000)}1${':2'.repeat(3000)}`],
  ];
  it('finds the place of the error', () => {
    const placeIn = (source: string): number | undefined => evaluator.findProblems(source, 'any')[0]?.at;
    expect([placeIn('a b'), placeIn('$sum('), placeIn('(\n  $a := 1\n  $b)\n')]).to.deep.equal([2, 4, 15]);
  });

  itTimed('takes no time for nested ?: and ??, of which JSONata copies the first part each time', () => {
    const cpuMs = measureCpuMsSync(() => {
      for (const operator of ['?:', '??', ' ?: ']) {
        const nested = `${'('.repeat(40)}a${`${operator}b)`.repeat(40)}`;
        expect(syntaxErrorIn(nested)).to.equal(undefined);
      }
    });
    expect(cpuMs).to.be.lessThan(50);
  });

  for (const [title, source] of long) {
    itTimed(`takes no time for ${title}, which are parsed when they are evaluated`, () => {
      const cpuMs = measureCpuMsSync(() => {
        for (let count = 0; count < 10; count++) expect(syntaxErrorIn(source)).to.equal(undefined);
      });
      expect(cpuMs).to.be.lessThan(50);
    });
  }
});
