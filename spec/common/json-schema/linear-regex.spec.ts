import { expect } from 'chai';
import * as fc from 'fast-check';
import { LinearRegExp } from '../../../lib/common/json-schema/linear-regex.js';
import { measureCpuMsSync } from '../../support/cpu-time.js';

function findMatches(
  regex: { lastIndex: number; exec(text: string): RegExpExecArray | (string | undefined)[] | null },
  text: string,
): unknown[] {
  const found: unknown[] = [];
  for (let match = regex.exec(text); match !== null && found.length < 20; match = regex.exec(text)) {
    found.push([...match], regex.lastIndex);
    if (match[0] === '') regex.lastIndex += 1;
  }
  return found;
}

describe('LinearRegExp', () => {
  it('matches like RegExp with the flag g on patterns that both support', () => {
    const pattern = fc.constantFrom(
      /a/g,
      /(a)(b)?/g,
      /^a/g,
      /b$/gm,
      /^b/gm,
      /A|B/gi,
      /[^a]+/g,
      /a*/g,
      /(?<n>b)/g,
      /😀+/gu,
      /\d{2,}/g,
      /\bb/g,
      /(a|ab)(c|bcd)?/g,
    );
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', 'A', '1', '2', ' ', '\n', '😀', 'c', 'd'),
      maxLength: 12,
    });
    fc.assert(
      fc.property(pattern, text, (native, subject) => {
        const expected = findMatches(new RegExp(native.source, native.flags), subject);
        expect(findMatches(new LinearRegExp(native), subject)).to.deep.equal(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('returns the index of a match, and starts again after the last one', () => {
    const regex = new LinearRegExp(/b/g);
    expect(regex.exec('abab')).to.have.property('index', 1);
    expect(regex.exec('abab')).to.have.property('index', 3);
    expect(regex.exec('abab')).to.equal(null);
    expect(regex.exec('abab')).to.have.property('index', 1);
    regex.lastIndex = 99;
    expect(regex.exec('abab')).to.equal(null);
  });

  it('alternates between texts', () => {
    const regex = new LinearRegExp(/b/g);
    regex.exec('ab');
    regex.lastIndex = 0;
    expect(regex.exec('b')).to.have.property('index', 0);
  });

  it('throws on look-around', () => {
    expect(() => new LinearRegExp(/(?=a)/)).to.throw('(?=');
  });

  it('finds many matches in linear time', () => {
    const cpuMs = measureCpuMsSync(() => {
      const text = 'ab '.repeat(100_000);
      const regex = new LinearRegExp(/a(b)/g);
      let count = 0;
      while (regex.exec(text) !== null) count += 1;
      expect(count).to.equal(100_000);
    });
    expect(cpuMs).to.be.lessThan(3000);
  });
});
