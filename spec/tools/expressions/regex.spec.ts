import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Json } from '../../../lib/common/json/json.js';
import { EXPRESSION_LIMITS } from '../../../lib/common/limits.js';
import { Evaluator } from '../../../lib/tools/expressions/evaluate.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';
import { cases } from '../../support/measuring/cases.js';

const evaluator = new Evaluator({ ...EXPRESSION_LIMITS, timeoutMs: 60_000, hardTimeoutMs: 60_000 });

function evaluate(source: string, input: Json): Json {
  return evaluator.evaluate(source, input, {}, 'run');
}

describe('A regular expression in an expression', () => {
  it('matches like one of JavaScript on patterns that both support', () => {
    const patterns = [
      /a/g,
      /(a)(b)?/g,
      /^a/g,
      /b$/gm,
      /^b/gm,
      /A|B/gi,
      /[^a]+/g,
      /(?<n>b)/g,
      /\d{2,}/g,
      /\bb/g,
      /(a|ab)(c|bcd)?/g,
    ];
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', 'A', '1', '2', ' ', '\n', 'c', 'd'),
      maxLength: 12,
    });
    fc.assert(
      fc.property(fc.constantFrom(...patterns), text, (pattern, subject) => {
        const expected = [...subject.matchAll(pattern)].map(({ 0: match, index }) => ({ match, index }));
        const source = `[$match($, /${pattern.source}/${pattern.flags.replace('g', '')}).{"match": match, "index": index}]`;
        expect(evaluate(source, subject)).to.deep.equal(expected);
      }),
      cases(300),
    );
  });

  it('has groups, which are absent where they match nothing', () => {
    expect(evaluate('$match($, /(a)(b)?/)', 'a ab')).to.deep.equal([
      { match: 'a', index: 0, groups: ['a', null] },
      { match: 'ab', index: 2, groups: ['a', 'b'] },
    ]);
  });

  it('is refused when it looks around', () => {
    expect(() => evaluate('$match($, /(?=a)/)', 'a')).to.throw('(?=');
  });

  itTimed('finds many matches in linear time', () => {
    const cpuMs = measureCpuMsSync(() => {
      expect(evaluate('$length($replace($, /a(b)/, ""))', 'ab '.repeat(100_000))).to.equal(100_000);
    });
    expect(cpuMs).to.be.lessThan(5000);
  });
});

describe('The base64 functions of an expression', () => {
  it('encode and decode like Node.js, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        expect(evaluate('$base64encode($)', text)).to.equal(Buffer.from(text, 'binary').toString('base64'));
        const encoded = Buffer.from(text).toString('base64url');
        expect(evaluate('$base64decode($)', encoded)).to.equal(
          Buffer.from(encoded, 'base64').toString('binary'),
        );
      }),
      cases(200),
    );
    for (const odd of ['QQ==QQ==', 'Q Q=\n=', 'a', '????', 'QWRh*QWRh', 'QUJD=QUJD'])
      expect(evaluate('$base64decode($)', odd), odd).to.equal(Buffer.from(odd, 'base64').toString('binary'));
  });
});
