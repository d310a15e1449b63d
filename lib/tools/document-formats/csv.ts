import { nextTurn } from '../../common/scheduling/turns.js';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCode, errorMessage, ToolError } from '../../common/errors.js';
import { setOwn } from '../../common/json/json.js';
import { ellipsize, joinFirst } from '../../common/text.js';
import { type CellTypes, convertCell } from './csv-cells.js';
import { type DocumentCell, type DocumentContent, documentError } from '../documents/document.js';

/** A slice may hold hundreds of rows, each of which takes some microseconds. */
const SLICE_BYTES = 2 ** 10;
const DELIMITERS = [',', ';', '\t'] as const;

/** How a table is read. */
export interface CsvReadOptions {
  /** Between cells. Default: the comma, semicolon or tab that occurs most often in the first line. */
  readonly delimiter?: string;
  /** Of numbers in the columns that have a type. Default: a point. */
  readonly decimal?: '.' | ',';
  readonly columns?: CellTypes;
}

/** A cell that is not of the type of its column. */
class CellError extends Error {}

/**
 * Parses comma-separated values whose first line names the columns; skips empty lines. A cell of a column without a type
 * becomes a number only when the number prints as the same text: `007` and `1.50` stay text.
 *
 * Yields to the event loop between slices; `signal` aborts it.
 *
 * @throws ToolError, not retryable, with the invalid line and the reason
 */
export async function parseCsv(
  bytes: Buffer,
  text: string,
  source: string,
  signal: AbortSignal | undefined,
  options: CsvReadOptions = {},
): Promise<DocumentContent> {
  const { parse } = await import('csv-parse');
  const { delimiter = detectDelimiter(text), columns: types = {}, decimal = '.' } = options;
  let columns: readonly string[] = [];
  const rows: Record<string, DocumentCell>[] = [];
  const format = { bom: true, skip_empty_lines: true, delimiter };
  const abortable = signal === undefined ? [] : [{ signal }];
  /** Where each record ends takes as long again, so it is asked for when it is needed. */
  const findLine = async (): Promise<number> => {
    const parser = parse({ ...format, info: true, from: rows.length + 2 });
    const records: AsyncIterable<{ readonly info: { readonly lines: number } }> = Readable.from(
      slices(bytes),
    ).pipe(parser);
    for await (const { info } of records) return info.lines;
    return 0;
  };
  const read = async (records: AsyncIterable<string[]>): Promise<void> => {
    for await (const record of records) {
      if (columns.length === 0) columns = parseHeader(record, types);
      else rows.push(toRow(columns, record, types, decimal));
    }
  };
  try {
    await pipeline(slices(bytes), parse(format), read, ...abortable).catch(async (error: unknown) => {
      if (!(error instanceof CellError)) throw error;
      throw new CellError(`line ${await findLine()}, ${error.message}`);
    });
  } catch (cause) {
    if (signal?.aborted === true) throw ToolError.nonRetryable('stopped', cause);
    throw documentError(source, `is not a table: ${describeError(cause)}`, cause);
  }
  return { columns, rows };
}

function parseHeader(cells: readonly string[], types: CellTypes): string[] {
  const columns = cells.map((cell) => cell.trim());
  const unnamed = columns.indexOf('');
  if (unnamed !== -1)
    throw new Error(`its first line must name the columns, and column ${unnamed + 1} has no name`);
  const seen = new Set<string>();
  for (const column of columns) {
    if (seen.has(column)) throw new Error(`two columns are named "${column}": rename one`);
    seen.add(column);
  }
  if (columns.every((column) => typeof parseCell(column) === 'number'))
    throw new Error('its first line must name the columns, but holds only numbers');
  const missing = Object.keys(types).find((column) => !seen.has(column));
  if (missing !== undefined)
    throw new Error(`it has no column "${missing}", which has a type; it has ${joinFirst(columns, 20)}`);
  return columns;
}

/** @throws CellError */
function toRow(
  columns: readonly string[],
  cells: readonly string[],
  types: CellTypes,
  decimal: '.' | ',',
): Record<string, DocumentCell> {
  const row: Record<string, DocumentCell> = {};
  for (const [i, column] of columns.entries()) {
    const cell = cells[i] ?? '';
    const type = Object.hasOwn(types, column) ? types[column] : undefined;
    const value = type === undefined ? parseCell(cell) : convertCell(cell, type, decimal);
    if (value === undefined) {
      const shown = JSON.stringify(ellipsize(cell, 100));
      throw new CellError(`column "${column}": ${shown} is not ${DESCRIBED[type ?? 'string']}`);
    }
    setOwn(row, column, value);
  }
  return row;
}

const DESCRIBED: Readonly<Record<CellTypes[string], string>> = {
  string: 'a text',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  date: 'a date such as 2024-01-31',
};

function parseCell(cell: string): string | number {
  const number = Number(cell);
  return Number.isFinite(number) && String(number) === cell ? number : cell;
}

/** Selects the delimiter that occurs most often in the first line, outside of quotes. */
function detectDelimiter(text: string): string {
  const start = text.search(/\S/);
  const end = text.indexOf('\n', start);
  const line = text.slice(Math.max(0, start), end === -1 ? text.length : end).replaceAll(/"[^"]*"/g, '');
  const counted = DELIMITERS.map((delimiter) => ({ delimiter, count: line.split(delimiter).length }));
  return counted.reduce((best, next) => (next.count > best.count ? next : best)).delimiter;
}

async function* slices(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    yield bytes.subarray(at, at + SLICE_BYTES);
    await nextTurn();
  }
}

function describeError(error: unknown): string {
  const message = errorMessage(error);
  if (errorCode(error) !== 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH') return message;
  const [, wanted, found, line] = /expect (\d+), got (\d+) on line (\d+)/.exec(message) ?? [];
  if (wanted === undefined || found === undefined) return message;
  return `line ${line} has ${countCells(found)}, but its header has ${wanted}`;
}

function countCells(cells: string): string {
  return cells === '1' ? '1 cell' : `${cells} cells`;
}
