import { widthOf } from './width.js';

/** Breaks text into lines of at most `columns`, at spaces; a longer word keeps a line to itself. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && widthOf(longer) > columns) {
      lines.push(line);
      line = word;
    } else {
      line = longer;
    }
  }
  return line === '' ? lines : [...lines, line];
}

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
