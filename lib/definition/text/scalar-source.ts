/** Matches the header of a block of text: an indicator, its indentation and a comment. */
const BLOCK_HEADER = /^[|>][-+\d]*[ \t]*(?:#[^\n]*)?\r?\n/;

const SPACE = /\s/;

/** Escapes in double quotes that mean white space, or the end of a line that goes on. */
const SPACE_ESCAPES = 'ntr \t\n\r';

/**
 * Finds the character at an offset of a text in the source of its scalar. Both have the same characters in the same order,
 * but for white space, quotes and escapes. Undefined where they differ otherwise.
 */
export function findCharacter(source: string, value: string, offset: number): number | undefined {
  const header = BLOCK_HEADER.exec(source)?.[0] ?? '';
  const quote = header === '' && /^["']/.test(source) ? source.charAt(0) : '';
  let at = header === '' ? quote.length : header.length;
  for (let index = 0; index <= offset; index++) {
    const wanted = value.charAt(index);
    if (SPACE.test(wanted)) continue;
    at = skipSpace(source, at, quote);
    const isEscape =
      (quote === '"' && source.charAt(at) === '\\') || (quote === "'" && source.startsWith("''", at));
    const found = source.charAt(isEscape ? at + 1 : at);
    if (found !== wanted) return undefined;
    if (index === offset) return at;
    at += isEscape ? 2 : 1;
  }
  return undefined;
}

/** Moves on to the next character that is no white space, as it is or as an escape. */
function skipSpace(source: string, start: number, quote: string): number {
  let at = start;
  for (;;) {
    if (SPACE.test(source.charAt(at))) at++;
    else if (quote === '"' && source.charAt(at) === '\\' && SPACE_ESCAPES.includes(source.charAt(at + 1)))
      at += 2;
    else return at;
  }
}
