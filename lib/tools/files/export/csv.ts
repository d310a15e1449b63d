import type { Steps } from '../../../common/scheduling/steps.js';
import { BoundedText, isLongText, piecesOf } from './bounded-text.js';
import type { Cell, Table } from './table.js';

export interface CsvOptions {
  readonly delimiter: string;
  /** Between the whole and the fraction of a number. */
  readonly decimal: string;
  /** Leaves texts that a spreadsheet takes for formulas as they are. */
  readonly formulas: boolean;
}

/**
 * Writes a table as CSV (RFC 4180): lines end with CR LF; cells are quoted where they must be.
 *
 * @throws ToolError, not retryable, as soon as the text is longer than a file may be
 */
export function* toCsvInSteps({ columns, rows }: Table, options: CsvOptions): Steps<string> {
  const text = new BoundedText();
  if (columns !== undefined) yield* addLine(text, columns, options);
  for (const row of rows) yield* addLine(text, row, options);
  return text.toString();
}

function* addLine(text: BoundedText, cells: readonly Cell[], options: CsvOptions): Steps<void> {
  let before = '';
  for (const cell of cells) {
    if (isLongText(cell)) {
      text.add(before);
      yield* addLongCell(text, cell, options);
    } else {
      text.add(before + formatCell(cell, options));
    }
    before = options.delimiter;
    if (text.flush()) yield;
  }
  text.add('\r\n');
  if (text.flush()) yield;
}

function formatCell(cell: Cell, { delimiter, decimal, formulas }: CsvOptions): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return quote(String(cell).replace('.', decimal), delimiter);
  const text = String(cell);
  return quote(!formulas && looksLikeFormula(text) ? `'${text}` : text, delimiter);
}

/** Writes what `formatCell` makes, in pieces. */
function* addLongCell(text: BoundedText, cell: string, { delimiter, formulas }: CsvOptions): Steps<void> {
  const prefix = !formulas && FORMULA.test(cell) ? "'" : '';
  const isPlain =
    isPlainText(`${prefix}${cell.slice(0, 1)}`, delimiter) && (yield* arePlain(cell, delimiter));
  text.add(isPlain ? prefix : `"${prefix}`);
  for (const piece of piecesOf(cell)) {
    text.add(isPlain ? piece : piece.replaceAll('"', '""'));
    if (text.flush()) yield;
  }
  if (!isPlain) text.add('"');
}

function* arePlain(cell: string, delimiter: string): Steps<boolean> {
  if (!isPlainText(cell.slice(-1), delimiter)) return false;
  for (const piece of piecesOf(cell)) {
    if (piece.includes(delimiter) || QUOTED.test(piece)) return false;
    yield;
  }
  return true;
}

/** A spreadsheet evaluates a cell that begins like this, and may then send the contents of the sheet elsewhere. */
const FORMULA = /^[=+\-@\t\r\n]/;
const NUMBER = /^[+-]?(\d{1,3}([ ,.]\d{3})+|\d+)([.,]\d+)?([eE][+-]?\d+)?\s?%?$/;

function looksLikeFormula(text: string): boolean {
  return FORMULA.test(text) && !NUMBER.test(text);
}

/** Matches characters that only a cell in quotes may have. */
const QUOTED = /["\r\n]/;

function isPlainText(text: string, delimiter: string): boolean {
  return !text.includes(delimiter) && !QUOTED.test(text) && !/^\s|\s$/.test(text);
}

function quote(text: string, delimiter: string): string {
  return isPlainText(text, delimiter) ? text : `"${text.replaceAll('"', '""')}"`;
}
