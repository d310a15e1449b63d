import { expect } from 'chai';
import * as fc from 'fast-check';
import { styleOf } from '../../../lib/cli/render/terminal.js';
import { screenLines, widthOf, wrap } from '../../../lib/cli/render/text.js';

const NARROW = { interactive: true, columns: 40, rows: 24, colours: true, unicode: true, redraws: true };
const CANCELLING = 'cancelling: the wave at work finishes first; Ctrl-C again stops at once';

describe('a line of our own words', () => {
  it('is broken at blanks on a narrow terminal, what follows indented below it', () => {
    expect(screenLines(CANCELLING, NARROW)).to.deep.equal([
      'cancelling: the wave at work finishes',
      '  first; Ctrl-C again stops at once',
    ]);
    expect(screenLines(`  ${CANCELLING}`, NARROW)).to.deep.equal([
      '  cancelling: the wave at work',
      '    finishes first; Ctrl-C again stops',
      '    at once',
    ]);
  });

  it('is left whole in a file or pipe, and where it fits', () => {
    expect(screenLines(CANCELLING, { ...NARROW, interactive: false })).to.deep.equal([CANCELLING]);
    expect(screenLines('  two  blanks', NARROW)).to.deep.equal(['  two  blanks']);
  });

  it('keeps a word whole that is longer than the terminal', () => {
    const id = 'x'.repeat(60);
    expect(screenLines(`run ${id} is here`, NARROW)).to.deep.equal(['run', `  ${id}`, '  is here']);
  });

  it('takes no more room for its paint', () => {
    const { red } = styleOf(NARROW);
    const fits = 'x'.repeat(35);
    expect(screenLines(`${red('abc')} ${fits}`, NARROW)).to.deep.equal([`${red('abc')} ${fits}`]);
  });
});

describe('wrapped text', () => {
  it('has every word, and no line that is too long but for a single word', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,12}$/)),
        fc.integer({ min: 1, max: 30 }),
        (words, columns) => {
          const lines = wrap(words.join(' '), columns);
          expect(lines.flatMap((line) => line.split(' '))).to.deep.equal(words);
          for (const line of lines) expect(widthOf(line) <= columns || !line.includes(' ')).to.equal(true);
        },
      ),
    );
  });
});
