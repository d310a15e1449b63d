/** A longer line is not shown: it would have to be cut, and of a secret in it, a part could not be masked. */
const MAX_LINE_LENGTH = 200;

const INDENT = '  ';

/** A name, with the bracket of its call. */
const CALLED = /[$\w]+\s*\($/;

/**
 * Draws the place of an error in an expression: its line, and carets under the token there. None for a line that is too
 * long, or that begins or ends within a text: it would be a part of the text.
 *
 * @param position number of the last character of the token, from 1
 */
export function drawPlace(source: string, position: number): string[] {
  const last = Math.min(position, source.trimEnd().length);
  const start = source.lastIndexOf('\n', last - 1) + 1;
  const lineEnd = source.indexOf('\n', start);
  const end = lineEnd < 0 ? source.length : lineEnd;
  const line = source.slice(start, end).trimEnd();
  if (last <= start || line.length > MAX_LINE_LENGTH || isInText(source, start) || isInText(source, end))
    return [];
  const token = CALLED.exec(source.slice(start, last))?.[0] ?? ' ';
  const before = line.slice(0, last - start - token.length).replaceAll(/[^\t]/g, ' ');
  const width = token.length > 1 ? token.slice(0, -1).trimEnd().length : 1;
  return [`${INDENT}${line}`, `${INDENT}${before}${'^'.repeat(width)}`];
}

/**
 * True between the quotes of a text, or of a name. A regular expression with a quote in it looks like the beginning of a
 * text: its place is not shown then.
 */
function isInText(source: string, offset: number): boolean {
  let quote = '';
  for (let at = 0; at < offset; at++) {
    const character = source.charAt(at);
    if (quote === '') quote = /["'`]/.test(character) ? character : '';
    else if (character === '\\') at++;
    else if (character === quote) quote = '';
  }
  return quote !== '';
}
