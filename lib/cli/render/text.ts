import { stripVTControlCharacters } from 'node:util';
import { eastAsianWidth } from 'get-east-asian-width';
import { formatDuration } from '../../common/text.js';
import type { Terminal } from './terminal.js';

/** Breaks text at spaces into lines of at most `columns`; a longer word gets its own line. Escape sequences take none. */
export function wrapText(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && displayWidth(stripVTControlCharacters(longer)) > columns) {
      lines.push(line);
      line = word;
    } else {
      line = longer;
    }
  }
  return line === '' ? lines : [...lines, line];
}

const DAY_MS = 86_400_000;

/** How long ago something was, as durations are written; from 48 hours on in whole days: `5 d`. */
export function formatAge(ms: number): string {
  return ms < 2 * DAY_MS ? formatDuration(ms) : `${Math.floor(ms / DAY_MS)} d`;
}

const CONTINUATION_INDENT = '  ';

/** Wraps a message for a terminal and indents its further lines. Files and pipes get the line as it is. */
export function wrapLine(line: string, { interactive, columns }: Terminal): string[] {
  // The last column stays free: some terminals break the line there.
  if (!interactive || displayWidth(stripVTControlCharacters(line)) < columns) return [line];
  const indent = ' '.repeat(line.length - line.trimStart().length);
  const width = Math.max(10, columns - 1 - indent.length - CONTINUATION_INDENT.length);
  return wrapText(line, width).map(
    (part, index) => (index === 0 ? indent : indent + CONTINUATION_INDENT) + part,
  );
}

const MAX_NAME_COLUMNS = 48;
/** With fewer columns beside the names, descriptions are easier to read below them. */
const MIN_DESCRIPTION_COLUMNS = 20;

/**
 * Formats names and their descriptions as a table, with wrapped descriptions:
 *
 * ```
 *   --timeout SECONDS   longest time of one attempt
 * ```
 *
 * On a narrow terminal each description is below its name. Names are not wrapped, because some are commands to copy.
 */
export function formatTable(
  rows: readonly (readonly [name: string, description: string])[],
  columns: number,
  styleName: (name: string) => string,
): string[] {
  const longest = Math.max(0, ...rows.map(([name]) => displayWidth(name)));
  const nameColumns = Math.min(longest, MAX_NAME_COLUMNS);
  const width = columns - nameColumns - 5;
  if (width < MIN_DESCRIPTION_COLUMNS) {
    return rows.flatMap(([name, description]) => [
      `  ${styleName(name)}`,
      ...wrapText(description, columns - 6).map((line) => `      ${line}`),
    ]);
  }
  return rows.flatMap(([name, description]) => {
    const [first = '', ...others] = wrapText(description, width);
    const padding = ' '.repeat(Math.max(0, nameColumns - displayWidth(name)) + 3);
    const indent = ' '.repeat(nameColumns + 5);
    return [`  ${styleName(name)}${padding}${first}`.trimEnd(), ...others.map((line) => indent + line)];
  });
}

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
const ZERO_WIDTH = /^[\p{Mark}\p{Control}\p{Format}]+$/u;
const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u;

/** The columns of a terminal that `text` takes: 2 per wide character, 0 per combining or control character. */
export function displayWidth(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmentGraphemes(text)) width += graphemeWidth(segment);
  return width;
}

/** Shortens `text` to `columns`; an ellipsis in the last column marks what is left out. */
export function truncateToWidth(text: string, columns: number): string {
  if (columns <= 0) return '';
  // A grapheme has no more than a few dozen code units, so the rest of a long text cannot be visible.
  const head = text.length > columns * 64 ? text.slice(0, columns * 64) : text;
  if (head === text && displayWidth(text) <= columns) return text;
  return `${sliceToWidth(head, columns - 1)}…`;
}

/** Shortens a name to `columns`; keeps its start and its end, in which similar names differ: `extract_…_2024`. */
export function truncateMiddle(name: string, columns: number): string {
  if (displayWidth(name) <= columns || !PRINTABLE_ASCII.test(name)) return truncateToWidth(name, columns);
  if (columns <= 0) return '';
  const end = Math.floor((columns - 1) / 2);
  return `${name.slice(0, columns - 1 - end)}…${name.slice(name.length - end)}`;
}

/** Returns the longest start of `text` that fits into `columns` without splitting a character. */
export function sliceToWidth(text: string, columns: number): string {
  let slice = '';
  let width = 0;
  for (const { segment } of segmentGraphemes(text)) {
    width += graphemeWidth(segment);
    if (width > columns) break;
    slice += segment;
  }
  return slice;
}

export function padToWidth(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)));
}

/** Created on first use: that takes over 10 ms, more than the rest of a short command. */
let segmenter: Intl.Segmenter | undefined;

function segmentGraphemes(text: string): Iterable<Intl.SegmentData> {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

function graphemeWidth(grapheme: string): number {
  if (ZERO_WIDTH.test(grapheme)) return 0;
  return EMOJI.test(grapheme) ? 2 : eastAsianWidth(grapheme.codePointAt(0) ?? 0);
}

// oxlint-disable-next-line no-control-regex -- matches control characters on purpose
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Replaces control and bidirectional characters by visible ones, but keeps line breaks and tabs. Text of definitions,
 * tools and files could otherwise move the cursor, change colours or reorder the line.
 */
export function escapeControlCharacters(text: string): string {
  return text.replace(UNSAFE, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : '\ufffd';
  });
}

/** Escapes the same characters in the text of a JSON document, which keeps its value. */
export function escapeControlCharactersInJson(json: string): string {
  return json.replace(UNSAFE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Puts untrusted text on one line: drops escape sequences and collapses white space. */
export function toSingleLine(text: string): string {
  return escapeControlCharacters(stripVTControlCharacters(text).replace(/\s+/g, ' ').trim());
}
