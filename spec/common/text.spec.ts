import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { errorMessage } from '../../lib/common/errors.js';
import { describeViolation } from '../../lib/common/json-schema/violation.js';
import { cutText, ellipsize, formatFirst, joinFirst } from '../../lib/common/text.js';
import { resolveParams } from '../../lib/definition/params.js';
import { formatKey } from '../../lib/definition/template/expressions/expression.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('formatFirst', () => {
  it('formats all items up to the maximum', () => {
    expect(formatFirst([1, 2], 2, (n) => `#${n}`)).to.deep.equal(['#1', '#2']);
  });

  it('counts the items beyond the maximum', () => {
    const items = Array.from({ length: 1236 }, (_, i) => `${i}`);
    expect(formatFirst(items, 2)).to.deep.equal(['0', '1', 'and 1,234 more']);
  });
});

describe('joinFirst', () => {
  it('joins all names up to the maximum', () => {
    expect(joinFirst(['a', 'b'], 2)).to.equal('a, b');
    expect(joinFirst([], 2)).to.equal('');
  });

  it('counts the names beyond the maximum', () => {
    expect(joinFirst(['a', 'b', 'c', 'd'], 2)).to.equal('a, b and 2 more');
  });
});

describe('Texts that are cut', () => {
  it('say that they were cut, and stay as they are up to the maximum', () => {
    expect(ellipsize('abcd', 4)).to.equal('abcd');
    expect(ellipsize('abcde', 4)).to.equal('abcd…');
    expect(cutText('abcd', 4)).to.equal('abcd');
    expect(cutText('x'.repeat(1200), 4)).to.equal('xxxx … (1,200 characters)');
  });

  it('splits no character of two halves', () => {
    expect(ellipsize('abc\u{1F600}e', 4)).to.equal('abc…');
    expect(cutText('ab\u{1F600}e', 4)).to.equal('ab\u{1F600} … (5 characters)');
  });

  const CUTS: Readonly<Record<string, (text: string) => string>> = {
    ellipsize: (text) => ellipsize(text, 200),
    cutText: (text) => cutText(text, 200),
    'the message about an unknown key': (text) => {
      const violation = { path: [], keyword: 'additionalProperties', wanted: text, value: {} };
      return describeViolation(violation, { one: 'input', all: 'inputs' });
    },
    'the message about a param of another type': (text) => {
      const definition = { id: 'p', goal: 'g', params: { n: { type: 'integer' as const } }, tasks: [] };
      const resolved = resolveParams(definition, { n: text });
      return resolved.ok ? '' : resolved.problems.join('');
    },
    'the message of an error that a tool throws': (text) =>
      errorMessage(new Error(`cannot read "${text.slice(0, 100)}"`)),
    'the message about a missing key with a long name': (text) => formatKey(text),
  };

  for (const [name, cut] of Object.entries(CUTS)) {
    it(`do not keep the whole text in memory: ${name}`, () => {
      const kept: string[] = [];
      const before = measureHeap();
      for (let count = 0; count < 20; count++) kept.push(cut(`${count}${'x'.repeat(2 ** 20)}`));
      expect(measureHeap() - before).to.be.below(4 * 2 ** 20);
      expect(kept).to.have.length(20);
    });
  }
});

/** Bytes of the heap that are in use. */
function measureHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
