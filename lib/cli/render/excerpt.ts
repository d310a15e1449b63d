import { printable, takeColumns, widthOf } from './text.js';

/** A place in a text, counted from 1; a column counts UTF-16 units, as the YAML reader does. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

const TAB = '    ';
/** How many columns of the line stay visible before the caret when it is clipped. */
const LEAD = 0.4;
/** A word longer than this is not underlined to its end. */
const LONGEST_WORD = 200;

/**
 * The line at `place` with a caret under it, in at most `columns` columns:
 *
 * ```
 *    12 |     tool: fetch_dta
 *       |           ^^^^^^^^^
 * ```
 *
 * @returns the two lines, or none when the text has no such line.
 */
export function excerpt(lines: readonly string[], place: Place, columns: number): string[] {
  const line = lines[place.line - 1]?.replace(/\r$/, '');
  if (line === undefined) return [];
  const gutter = `${String(place.line).padStart(5)} | `;
  const room = Math.max(20, columns - gutter.length - 1);
  const { text, offset, length } = window(line, place.column - 1, room);
  return [gutter + text, `${' '.repeat(gutter.length - 2)}| ${' '.repeat(offset)}${'^'.repeat(length)}`];
}

/** The part of the line around the caret that fits, and where in it the caret stands, in columns. */
function window(line: string, caret: number, room: number): { text: string; offset: number; length: number } {
  const at = Math.min(Math.max(0, caret), line.length);
  // Code units far from the caret cannot be in sight: a line may be megabytes long.
  const before = shown(line.slice(Math.max(0, at - room), at));
  const word = shown(wordAt(line, at));
  const after = shown(line.slice(at, at + room * 2));
  const wholeBefore = at <= room && widthOf(before) + widthOf(after) <= room;
  const lead = wholeBefore ? before : tail(before, at > room, room);
  const offset = widthOf(lead);
  const rest = fit(after, room - offset, line.length > at + room * 2);
  return { text: lead + rest, offset, length: Math.max(1, Math.min(widthOf(word), room - offset)) };
}

/** The end of `text`, with an ellipsis where something was left out. */
function tail(text: string, moreBefore: boolean, room: number): string {
  const keep = Math.floor(room * LEAD);
  if (!moreBefore && widthOf(text) <= keep) return text;
  let kept = '';
  let width = 0;
  for (const character of Array.from(text).toReversed()) {
    width += widthOf(character);
    if (width > keep - 1) break;
    kept = character + kept;
  }
  return `…${kept}`;
}

function fit(text: string, room: number, moreAfter: boolean): string {
  if (widthOf(text) <= room && !moreAfter) return text;
  return `${takeColumns(text, room - 1)}…`;
}

/** What the caret underlines: a quoted string, or the word up to the next separator. */
function wordAt(line: string, at: number): string {
  const rest = line.slice(at, at + LONGEST_WORD);
  return /^("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,:[\]{}#]+)/.exec(rest)?.[0] ?? rest.slice(0, 1);
}

function shown(text: string): string {
  return printable(text).replaceAll('\t', TAB);
}
