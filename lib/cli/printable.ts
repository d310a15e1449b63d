import { stripVTControlCharacters } from 'node:util';

/**
 * Text that came from a definition, a tool or a file may hold control characters; printed as they are, they could
 * move the cursor, change colours or reorder the line.
 */

// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** `text` with every character that acts on a terminal shown instead; line ends and tabs stay. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : '\ufffd';
  });
}

/** `text` on one line: escape sequences dropped, every run of white space one space. */
export function oneLine(text: string): string {
  return printable(stripVTControlCharacters(text).replace(/\s+/g, ' ').trim());
}
