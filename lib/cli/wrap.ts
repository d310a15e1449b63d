import { stripVTControlCharacters } from 'node:util';
import type { Terminal } from './terminal.js';
import { widthOf } from './width.js';

/** Breaks text into lines of at most `columns`, at spaces; a longer word keeps a line to itself. Paint takes no room. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && widthOf(stripVTControlCharacters(longer)) > columns) {
      lines.push(line);
      line = word;
    } else {
      line = longer;
    }
  }
  return line === '' ? lines : [...lines, line];
}

/**
 * A line of our own words on a terminal: broken at blanks where it is too long, what follows indented below it. Files
 * and pipes get it whole.
 */
export function screenLines(line: string, { interactive, columns }: Terminal): string[] {
  // The last column stays free: some terminals break the line there.
  if (!interactive || widthOf(stripVTControlCharacters(line)) < columns) return [line];
  const indent = ' '.repeat(line.length - line.trimStart().length);
  const room = Math.max(10, columns - 1 - indent.length - DEEPER.length);
  return wrap(line, room).map((part, index) => (index === 0 ? indent : indent + DEEPER) + part);
}

const DEEPER = '  ';

/**
 * Rows of a name and what it means, the meanings aligned and wrapped:
 *
 * ```
 *   --timeout SECONDS   longest time of one attempt
 * ```
 */
export function table(
  rows: readonly (readonly [name: string, meaning: string])[],
  columns: number,
  paint: (name: string) => string,
): string[] {
  const nameColumns = Math.min(Math.max(0, ...rows.map(([name]) => widthOf(name))), WIDEST_NAME);
  const room = Math.max(20, columns - nameColumns - 5);
  return rows.flatMap(([name, meaning]) => {
    const [first = '', ...others] = wrap(meaning, room);
    const padding = ' '.repeat(Math.max(0, nameColumns - widthOf(name)) + 3);
    const indent = ' '.repeat(nameColumns + 5);
    return [`  ${paint(name)}${padding}${first}`.trimEnd(), ...others.map((line) => indent + line)];
  });
}

const WIDEST_NAME = 48;
