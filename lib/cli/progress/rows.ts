import type { Style } from '../render/terminal.js';
import { displayWidth, padToWidth, truncateMiddle, truncateToWidth } from '../render/text.js';

export interface Viewport {
  readonly columns: number;
  readonly rows: number;
  readonly style: Style;
  /** Milliseconds, of the clock that also dates the events. */
  readonly now: number;
  /** Counts the redraws, to animate the spinner. */
  readonly frame: number;
}

export type StyledText = readonly [style: keyof Omit<Style, 'marks'>, text: string];

/** One line of the progress. When it is too long, its text and its name give way; marks, counts and times stay. */
export interface Row {
  readonly indent: number;
  readonly mark?: StyledText;
  /** The id of a task or sub-pipeline. Names of the same indentation take the same columns. */
  readonly name?: StyledText;
  /** The length of the longest name of this indentation, also of those that are not shown: columns do not move. */
  readonly longestName?: number;
  readonly facts: readonly StyledText[];
  /** An error, or what is under way. */
  readonly text?: StyledText;
}

/** A narrow terminal gets counts in their short form, and no progress bars. */
export function isNarrow({ columns }: Viewport): boolean {
  return columns < 60;
}

const MAX_NAME_COLUMNS = 32;
const MIN_NAME_COLUMNS = 4;
/** A name does not give way to a text below this. */
const NAME_COLUMNS_BESIDE_TEXT = 12;
const GAP = '  ';

/** Formats rows for a terminal. The last column stays free: some terminals break the line there. */
export function formatRows(rows: readonly Row[], { columns, style }: Viewport): string[] {
  const nameColumns = new Map<number, number>();
  for (const row of rows) {
    if (row.name === undefined) continue;
    const most = nameColumns.get(row.indent) ?? Number.POSITIVE_INFINITY;
    nameColumns.set(row.indent, Math.min(most, findNameColumns(row, columns - 1)));
  }
  return rows.map((row) => styleRow(row, nameColumns.get(row.indent) ?? 0, columns - 1, style));
}

function findNameColumns(row: Row, columns: number): number {
  const { indent, mark, name, longestName = 0, facts, text } = row;
  const wanted = Math.min(Math.max(widthOf(name), longestName), MAX_NAME_COLUMNS);
  const factColumns = facts.reduce((sum, fact) => sum + widthOf(fact), 0);
  const textColumns = Math.min(widthOf(text), Math.floor(columns / 3));
  const free = columns - indent - widthOf(mark) - GAP.length - factColumns;
  const besideText = Math.max(free - textColumns, Math.min(free, NAME_COLUMNS_BESIDE_TEXT));
  return Math.min(wanted, Math.max(besideText, MIN_NAME_COLUMNS));
}

function widthOf(piece: StyledText | undefined): number {
  return piece === undefined ? 0 : displayWidth(piece[1]);
}

function styleRow(row: Row, nameColumns: number, columns: number, style: Style): string {
  const { indent, mark, name, facts, text } = row;
  const pieces: StyledText[] = [['plain', ' '.repeat(indent)]];
  if (mark !== undefined) pieces.push(mark);
  if (name !== undefined) {
    const shown = padToWidth(truncateMiddle(name[1], nameColumns), nameColumns);
    pieces.push([name[0], shown + GAP]);
  }
  pieces.push(...facts);
  if (text !== undefined) pieces.push(text);
  return stylePieces(pieces, columns, style);
}

/** Truncates the piece that does not fit into `columns` and drops those after it. Escape sequences take no columns. */
function stylePieces(pieces: readonly StyledText[], columns: number, style: Style): string {
  let line = '';
  let free = columns;
  for (const [name, text] of pieces) {
    if (free <= 0) break;
    const shown = truncateToWidth(text, free);
    free -= displayWidth(shown);
    line += style[name](shown);
    if (shown !== text) break;
  }
  return line;
}
