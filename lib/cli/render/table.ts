import type { Terminal } from './terminal.js';
import { displayWidth, padToWidth, toSingleLine, truncateMiddle, truncateToWidth } from './text.js';

/** A column of a table. */
export interface Column<R> {
  readonly heading: string;
  /** The text of the column in a row, on one line. */
  readonly cell: (row: R) => string;
  readonly alignsRight?: boolean;
  /** A narrow terminal gives up the column of the largest number first, for the last column. */
  readonly dispensable?: number;
  /** Of the last column: it has sentences, which are shortened at their end, and no names. */
  readonly hasSentences?: boolean;
}

interface Table<R> {
  readonly rows: readonly R[];
  readonly columns: readonly Column<R>[];
  /** The last column, of texts of any length. */
  readonly last: Column<R>;
  /** Colours the line of a row. */
  readonly paint?: (line: string, row: R) => string;
}

/** A column with its texts, that of the heading first. */
interface Measured extends Pick<Column<unknown>, 'alignsRight' | 'dispensable'> {
  readonly texts: readonly string[];
  readonly width: number;
}

/** A narrower last column would say too little. */
const MIN_LAST_COLUMN = 10;
const GAP = '  ';

/** The column of tenants, unless all rows are of the same one. */
export function tenantColumns<R extends { readonly tenant_id: string | null }>(
  rows: readonly R[],
  dispensable = 0,
): readonly Column<R>[] {
  const hasTenants = new Set(rows.map(({ tenant_id: id }) => id)).size > 1;
  if (!hasTenants) return [];
  const cell = ({ tenant_id: id }: R): string => toSingleLine(id ?? '-');
  return [{ heading: 'TENANT', cell, dispensable }];
}

/** One line for each row, below one of headings. On a terminal long texts are shortened, and before that other columns given up. */
export function formatColumns<R>(
  { rows, columns, last, paint = (line) => line }: Table<R>,
  terminal: Terminal,
): string[] {
  const { interactive, style } = terminal;
  const room = interactive ? terminal.columns - 1 : Number.POSITIVE_INFINITY;
  const measured = columns.map((column) => measure(column, rows));
  const names = measure(last, rows);
  const shown = giveUpColumns(measured, room - Math.min(names.width, MIN_LAST_COLUMN));
  const nameRoom = room - widthOf(shown);
  const shorten = last.hasSentences === true ? truncateToWidth : truncateMiddle;
  return names.texts.map((name, index) => {
    const cells = shown.map(({ texts, width, alignsRight }) => pad(texts[index] ?? '', width, alignsRight));
    const line = truncateToWidth([...cells, shorten(name, nameRoom)].join(GAP).trimEnd(), room);
    const row = rows[index - 1];
    return row === undefined ? style.dim(line) : paint(line, row);
  });
}

function measure<R>({ heading, cell, ...column }: Column<R>, rows: readonly R[]): Measured {
  const texts = [heading, ...rows.map(cell)];
  return { ...column, texts, width: texts.reduce((width, text) => Math.max(width, displayWidth(text)), 0) };
}

function giveUpColumns(columns: readonly Measured[], room: number): readonly Measured[] {
  let shown = columns;
  const order = columns.filter(({ dispensable = 0 }) => dispensable > 0);
  order.sort((a, b) => (b.dispensable ?? 0) - (a.dispensable ?? 0));
  for (const column of order) {
    if (widthOf(shown) <= room) break;
    shown = shown.filter((other) => other !== column);
  }
  return shown;
}

/** The width of the columns, with the gap after each. */
function widthOf(columns: readonly Measured[]): number {
  return columns.reduce((sum, { width }) => sum + width + GAP.length, 0);
}

function pad(text: string, width: number, alignsRight = false): string {
  return alignsRight ? ' '.repeat(Math.max(0, width - displayWidth(text))) + text : padToWidth(text, width);
}
