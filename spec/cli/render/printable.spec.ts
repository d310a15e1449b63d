import { expect } from 'chai';
import { oneLine, printable } from '../../../lib/cli/render/text.js';

describe('text that is printed', () => {
  it('shows the characters that act on a terminal, and keeps line ends and tabs', () => {
    expect(printable('a\u001b[2J\u0007\u0000\tb\nc\r')).to.equal('a␛[2J␇␀\tb\nc␍');
    expect(printable('\u009b2J\u007f\u202e\u2066')).to.equal('\ufffd2J\ufffd\ufffd\ufffd');
  });

  it('keeps the text of all scripts', () => {
    expect(printable('naïve 日本 😀 עברית')).to.equal('naïve 日本 😀 עברית');
  });

  it('is one line where a line is wanted, without escape sequences', () => {
    expect(oneLine('  a\n\tb\r\nc \u001b[31mred\u001b[0m ')).to.equal('a b c red');
  });
});
