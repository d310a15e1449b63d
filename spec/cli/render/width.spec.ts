import { expect } from 'chai';
import * as fc from 'fast-check';
import { clip, padTo, takeColumns, widthOf } from '../../../lib/cli/render/text.js';

describe('the width of text', () => {
  for (const [text, width] of [
    ['', 0],
    ['abc', 3],
    ['é', 1],
    ['e\u0301', 1],
    ['日本', 4],
    ['한글', 4],
    ['ＡＢ', 4],
    ['😀', 2],
    ['👩‍👩‍👧', 2],
    ['✓ ok', 4],
    ['…', 1],
    ['\u200b', 0],
  ] as const) {
    it(`of ${JSON.stringify(text)} is ${width}`, () => expect(widthOf(text)).to.equal(width));
  }

  it('decides what is clipped, with an ellipsis in the last column', () => {
    expect(clip('abcdef', 6)).to.equal('abcdef');
    expect(clip('abcdef', 5)).to.equal('abcd…');
    expect(clip('日本語', 5)).to.equal('日本…');
    expect(clip('abc', 1)).to.equal('…');
    expect(clip('abc', 0)).to.equal('');
  });

  it('never grows by clipping, and is never more than asked for', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, columns) => {
        expect(widthOf(clip(text, columns))).to.be.at.most(columns);
        expect(text.startsWith(takeColumns(text, columns))).to.equal(true);
        expect(widthOf(padTo(text, columns))).to.equal(Math.max(columns, widthOf(text)));
      }),
    );
  });
});
