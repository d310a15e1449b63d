import { formatCount, formatDuration, formatNumber } from '../../../lib/common/text.js';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { createStyle } from '../../../lib/cli/render/terminal.js';
import {
  truncateToWidth,
  toSingleLine,
  padToWidth,
  escapeControlCharacters,
  formatAge,
  wrapLine,
  sliceToWidth,
  displayWidth,
  wrapText,
} from '../../../lib/cli/render/text.js';
import { createTerminal } from './terminal.js';

const NARROW = createTerminal({ columns: 40, colours: true });
const CANCELLING = 'cancelling: the current wave finishes first; Ctrl-C again stops at once';

describe('wrapLine', () => {
  it('breaks a line at spaces on a narrow terminal and indents what follows', () => {
    expect(wrapLine(CANCELLING, NARROW)).to.deep.equal([
      'cancelling: the current wave finishes',
      '  first; Ctrl-C again stops at once',
    ]);
    expect(wrapLine(`  ${CANCELLING}`, NARROW)).to.deep.equal([
      '  cancelling: the current wave',
      '    finishes first; Ctrl-C again stops',
      '    at once',
    ]);
  });

  it('leaves a line unchanged in a file or pipe, and where it fits', () => {
    expect(wrapLine(CANCELLING, { ...NARROW, interactive: false })).to.deep.equal([CANCELLING]);
    expect(wrapLine('  two  blanks', NARROW)).to.deep.equal(['  two  blanks']);
  });

  it('does not break a word that is longer than the terminal', () => {
    const id = 'x'.repeat(60);
    expect(wrapLine(`run ${id} is here`, NARROW)).to.deep.equal(['run', `  ${id}`, '  is here']);
  });

  it('does not count escape sequences as columns', () => {
    const { red } = createStyle(NARROW);
    const fits = 'x'.repeat(35);
    expect(wrapLine(`${red('abc')} ${fits}`, NARROW)).to.deep.equal([`${red('abc')} ${fits}`]);
  });
});

describe('wrapText', () => {
  it('keeps every word, and exceeds the columns only for a single word', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,12}$/)),
        fc.integer({ min: 1, max: 30 }),
        (words, columns) => {
          const lines = wrapText(words.join(' '), columns);
          expect(lines.flatMap((line) => line.split(' '))).to.deep.equal(words);
          for (const line of lines)
            expect(displayWidth(line) <= columns || !line.includes(' ')).to.equal(true);
        },
      ),
    );
  });
});

describe('escapeControlCharacters and toSingleLine', () => {
  it('replace control characters, but escapeControlCharacters keeps line breaks and tabs', () => {
    expect(escapeControlCharacters('a\u001b[2J\u0007\u0000\tb\nc\r')).to.equal('a␛[2J␇␀\tb\nc␍');
    expect(escapeControlCharacters('\u009b2J\u007f\u202e\u2066')).to.equal('\ufffd2J\ufffd\ufffd\ufffd');
  });

  it('keep the text of all scripts', () => {
    expect(escapeControlCharacters('naïve 日本 😀 עברית')).to.equal('naïve 日本 😀 עברית');
  });

  it('drop escape sequences and line breaks in toSingleLine', () => {
    expect(toSingleLine('  a\n\tb\r\nc \u001b[31mred\u001b[0m ')).to.equal('a b c red');
  });
});

describe('displayWidth, truncateToWidth, sliceToWidth and padToWidth', () => {
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
    it(`measure ${JSON.stringify(text)} as ${width} columns`, () =>
      expect(displayWidth(text)).to.equal(width));
  }

  it('truncate text with an ellipsis in the last column', () => {
    expect(truncateToWidth('abcdef', 6)).to.equal('abcdef');
    expect(truncateToWidth('abcdef', 5)).to.equal('abcd…');
    expect(truncateToWidth('日本語', 5)).to.equal('日本…');
    expect(truncateToWidth('abc', 1)).to.equal('…');
    expect(truncateToWidth('abc', 0)).to.equal('');
  });

  it('never exceed the columns', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, columns) => {
        expect(displayWidth(truncateToWidth(text, columns))).to.be.at.most(columns);
        expect(text.startsWith(sliceToWidth(text, columns))).to.equal(true);
        expect(displayWidth(padToWidth(text, columns))).to.equal(Math.max(columns, displayWidth(text)));
      }),
    );
  });
});

describe('formatNumber, formatCount and formatDuration', () => {
  for (const [count, text] of [
    [0, '0'],
    [999, '999'],
    [1000, '1,000'],
    [1234567, '1,234,567'],
  ] as const) {
    it(`format the number ${count} as ${text}`, () => expect(formatNumber(count)).to.equal(text));
  }

  it('format mebibytes with digits after the point as Intl does, without it', () => {
    const sizes = fc.integer({ min: 0, max: 2 ** 40 });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 0, max: 3 }), (bytes, digits) => {
        const expected = (bytes / 2 ** 20).toLocaleString('en', { maximumFractionDigits: digits });
        expect(formatNumber(bytes / 2 ** 20, digits)).to.equal(expected);
      }),
    );
    expect(formatNumber(1234.5678, 3)).to.equal('1,234.568');
  });

  it('format counts of one and of many', () => {
    expect(formatCount(1, 'task')).to.equal('1 task');
    expect(formatCount(0, 'task')).to.equal('0 tasks');
    expect(formatCount(1003, 'item')).to.equal('1,003 items');
  });

  for (const [ms, text] of [
    [-1, '0 ms'],
    [12.4, '12 ms'],
    [99, '99 ms'],
    [100, '0.1 s'],
    [1500, '1.5 s'],
    [9949, '9.9 s'],
    [9950, '10 s'],
    [59_400, '59 s'],
    [59_600, '1 min 0 s'],
    [125_000, '2 min 5 s'],
    [3_780_000, '1 h 3 min'],
    [172_799_000, '47 h 59 min'],
    [172_800_000, '2 d 0 h'],
    [442_800_000, '5 d 3 h'],
  ] as const) {
    it(`format ${ms} milliseconds as ${text}`, () => expect(formatDuration(ms)).to.equal(text));
  }

  it('format an age of 48 hours or more in whole days', () => {
    expect([172_799_000, 172_800_000, 442_800_000].map(formatAge)).to.deep.equal([
      '47 h 59 min',
      '2 d',
      '5 d',
    ]);
  });
});
