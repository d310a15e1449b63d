import type { Steps } from '../../../common/steps.js';
import { type Cell, CELLS_PER_STEP, type Table } from './table.js';

export interface CsvOptions {
  readonly delimiter: string;
  /** Between the whole and the fraction of a number. */
  readonly decimal: string;
  /** Leaves texts that a spreadsheet takes for formulas as they are. */
  readonly formulas: boolean;
}

/** Writes a table as CSV (RFC 4180): lines end with CR LF; cells are quoted where they must be. */
export function* toCsvInSteps({ columns, rows }: Table, options: CsvOptions): Steps<string> {
  const parts: string[] = [];
  if (columns !== undefined) parts.push(toLine(columns, options));
  let cells = 0;
  for (const row of rows) {
    parts.push(toLine(row, options));
    // The line counts, too: it may be empty.
    cells += row.length + 1;
    if (cells < CELLS_PER_STEP) continue;
    cells = 0;
    yield;
  }
  return parts.join('');
}

function toLine(cells: readonly Cell[], options: CsvOptions): string {
  return `${cells.map((cell) => formatCell(cell, options)).join(options.delimiter)}\r\n`;
}

function formatCell(cell: Cell, { delimiter, decimal, formulas }: CsvOptions): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return quote(String(cell).replace('.', decimal), delimiter);
  const text = String(cell);
  return quote(!formulas && looksLikeFormula(text) ? `'${text}` : text, delimiter);
}

/** What begins like this, a spreadsheet evaluates, and it may then send what is in the sheet elsewhere. */
const FORMULA = /^[=+\-@\t\r\n]/;
const NUMBER = /^[+-]?(\d{1,3}([ ,.]\d{3})+|\d+)([.,]\d+)?([eE][+-]?\d+)?\s?%?$/;

function looksLikeFormula(text: string): boolean {
  return FORMULA.test(text) && !NUMBER.test(text);
}

function quote(text: string, delimiter: string): string {
  const isPlain = !text.includes(delimiter) && !/["\r\n]|^\s|\s$/.test(text);
  return isPlain ? text : `"${text.replaceAll('"', '""')}"`;
}
