import { stripVTControlCharacters } from 'node:util';
import type { Terminal } from './terminal.js';

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

/** How much room text takes on a terminal. */

const WIDE = [
  [0x1100, 0x115f], // Hangul Jamo
  [0x2e80, 0x303e], // CJK radicals and punctuation
  [0x3041, 0x33ff], // kana, CJK symbols
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff], // CJK ideographs
  [0xa000, 0xa4cf], // Yi
  [0xac00, 0xd7a3], // Hangul syllables
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60], // full-width forms
  [0xffe0, 0xffe6],
  [0x20000, 0x3fffd],
] as const;

const PLAIN = /^[\x20-\x7e]*$/;
const NO_WIDTH = /^[\p{Mark}\p{Control}\p{Format}]+$/u;
const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u;

/** Columns that `text` takes: 2 for wide characters, 0 for those that add to the one before. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += widthOfGrapheme(segment);
  return width;
}

/** The beginning of `text` that fits into `columns`, its last column an ellipsis when something is left out. */
export function clip(text: string, columns: number): string {
  if (columns <= 0) return '';
  // No character takes part in more than a few dozen code units: what follows cannot matter.
  const head = text.length > columns * 64 ? text.slice(0, columns * 64) : text;
  if (head === text && widthOf(text) <= columns) return text;
  return `${takeColumns(head, columns - 1)}…`;
}

/** As many whole characters from the start of `text` as fit into `columns`. */
export function takeColumns(text: string, columns: number): string {
  let taken = '';
  let width = 0;
  for (const { segment } of graphemesOf(text)) {
    width += widthOfGrapheme(segment);
    if (width > columns) break;
    taken += segment;
  }
  return taken;
}

/** `text` followed by spaces up to `columns`. */
export function padTo(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

/** Made when first needed: it costs more than all the rest of a short command. */
let segmenter: Intl.Segmenter | undefined;

function graphemesOf(text: string): Iterable<Intl.SegmentData> {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

function widthOfGrapheme(grapheme: string): number {
  if (NO_WIDTH.test(grapheme)) return 0;
  if (EMOJI.test(grapheme)) return 2;
  const code = grapheme.codePointAt(0) ?? 0;
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

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

/** `1,003`. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 error`, `2 errors`, `1,003 errors`. */
export function plural(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `3 ms`, `0.8 s`, `12 s`, `2 min 5 s`, `1 h 3 min`. */
export function duration(ms: number): string {
  if (ms < 100) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
