import { displayWidth, escapeControlCharacters, sliceToWidth, truncateToWidth } from './text.js';

/** Counted from 1. A column counts UTF-16 code units, as the YAML parser does. */
export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

const TAB = '    ';
/** The share of the columns before the caret when the line is truncated. */
const LEADING_SHARE = 0.4;
const MAX_UNDERLINED = 200;

/**
 * Shows a line of a file with a caret under a position, in at most `columns` columns:
 *
 * ```
 *    12 |     tool: fetch_dta
 *       |           ^^^^^^^^^
 * ```
 *
 * @returns the two lines, or none if the text has no such line
 */
export function codeFrame(lines: readonly string[], position: SourcePosition, columns: number): string[] {
  const line = lines[position.line - 1]?.replace(/\r$/, '');
  if (line === undefined) return [];
  const gutter = `${String(position.line).padStart(5)} | `;
  const width = Math.max(20, columns - gutter.length - 1);
  const { text, offset, length } = excerptAround(line, position.column - 1, width);
  return [gutter + text, `${' '.repeat(gutter.length - 2)}| ${' '.repeat(offset)}${'^'.repeat(length)}`];
}

interface Excerpt {
  readonly text: string;
  /** Column of the first caret in `text`, from 0. */
  readonly offset: number;
  readonly length: number;
}

function excerptAround(line: string, caret: number, width: number): Excerpt {
  const at = Math.min(Math.max(0, caret), line.length);
  // A line may have megabytes: only code units near the caret can be visible.
  const before = toVisible(line.slice(Math.max(0, at - width), at));
  const underlined = toVisible(findUnderlined(line, at));
  const after = toVisible(line.slice(at, at + width * 2));
  const fits = at <= width && displayWidth(before) + displayWidth(after) <= width;
  const start = fits ? before : truncateStart(before, at > width, Math.floor(width * LEADING_SHARE));
  const offset = displayWidth(start);
  const free = width - offset;
  const isCut = line.length > at + width * 2;
  const rest = isCut ? `${sliceToWidth(after, free - 1)}…` : truncateToWidth(after, free);
  const length = Math.max(1, Math.min(displayWidth(underlined), free));
  return { text: start + rest, offset, length };
}

function toVisible(text: string): string {
  return escapeControlCharacters(text).replaceAll('\t', TAB);
}

/** A template, a quoted string, or the word up to the next separator. */
function findUnderlined(line: string, at: number): string {
  const rest = line.slice(at, at + MAX_UNDERLINED);
  return UNDERLINED.exec(rest)?.[0] ?? rest.slice(0, 1);
}

/** A template that is not closed ends before the quotes around its text. */
const UNDERLINED = /^(?:\{\{.*?\}\}+|\{\{[^\s"']*|"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,:[\]{}#]+)/;

/** @param hasMore whether the line has more text before `text` */
function truncateStart(text: string, hasMore: boolean, columns: number): string {
  if (!hasMore && displayWidth(text) <= columns) return text;
  let kept = '';
  let width = 0;
  for (const character of Array.from(text).toReversed()) {
    width += displayWidth(character);
    if (width > columns - 1) break;
    kept = character + kept;
  }
  return `…${kept}`;
}
