import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { errorMessage, ToolError } from '../../../common/errors.js';
import { EXPORT_LIMITS } from '../../../common/limits.js';
import {
  pauseWhenOver,
  runForAttempt,
  type WorkingAttempt,
} from '../../../common/scheduling/run-in-slices.js';
import type { Steps } from '../../../common/scheduling/steps.js';
import { type Cell, describeCellLength, type Table } from './table.js';

/** A sheet of a workbook. */
export interface NamedTable {
  readonly name: string;
  readonly table: Table;
}

/** A cell as the thread receives it: a number `t` of milliseconds is a date, with or without a time. */
type SheetCell = Cell | { readonly t: number; readonly hasTime: boolean };

/** Some rows of a sheet. */
interface SheetMessage {
  /** Begins a sheet; undefined for further rows of the same one. */
  readonly sheet: string | undefined;
  readonly hasHeader: boolean;
  readonly rows: readonly (readonly SheetCell[])[];
  /** True when the first of them is the rest of the row before. */
  readonly isContinued: boolean;
}

/**
 * Runs in a thread of its own: writing 100,000 cells takes seconds, without a pause. Texts are written as texts, so
 * that none of them is a formula.
 */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const { default: write } = require(workerData.module);
const sheets = [];
const toCell = (cell, isHeader) => {
  if (cell === null) return null;
  if (typeof cell === 'string') return { value: cell, type: String, ...(isHeader && { fontWeight: 'bold' }) };
  if (typeof cell === 'number') return { value: cell, type: Number };
  if (typeof cell === 'boolean') return { value: cell, type: Boolean };
  return { value: new Date(cell.t), type: Date, format: cell.hasTime ? 'yyyy-mm-dd hh:mm:ss' : 'yyyy-mm-dd' };
};
parentPort.on('message', (message) => {
  if (message === null) return write(sheets).toBuffer().then((bytes) => parentPort.postMessage(bytes));
  const { sheet, hasHeader, rows, isContinued } = message;
  if (sheet !== undefined) sheets.push({ sheet, data: [] });
  const { data } = sheets.at(-1);
  rows.forEach((row, index) => {
    if (!isContinued || index > 0) data.push([]);
    const isHeader = hasHeader && data.length === 1;
    for (const cell of row) data.at(-1).push(toCell(cell, isHeader));
  });
});
`;

/**
 * Writes tables as the sheets of an XLSX workbook: numbers as numbers, ISO dates as dates, the names of columns bold.
 *
 * Rejects with a ToolError when there are too many cells, a text is too long for a cell, or the signal aborts.
 */
export async function toXlsx(tables: readonly NamedTable[], attempt: WorkingAttempt): Promise<Uint8Array> {
  await runForAttempt(assertFitsInSteps(tables), attempt);
  return writeInThread(tables, attempt);
}

/** Settles when the thread has ended: only then is its memory free for another one, and the program can end. */
async function writeInThread(tables: readonly NamedTable[], attempt: WorkingAttempt): Promise<Uint8Array> {
  const { signal } = attempt;
  const module = createRequire(import.meta.url).resolve('write-excel-file/node');
  const worker = new Worker(PROGRAM, {
    eval: true,
    env: {},
    workerData: { module },
    resourceLimits: { maxOldGenerationSizeMb: EXPORT_LIMITS.workbookMiB },
  });
  let stop = (): void => undefined;
  try {
    return await new Promise<Uint8Array>((resolve, reject) => {
      stop = () => reject(signal.reason);
      signal.addEventListener('abort', stop);
      worker.once('message', resolve);
      worker.on('error', reject);
      worker.once('exit', () => reject(new Error('its thread has ended')));
      sendSheets(tables, worker, attempt).catch(reject);
    });
  } catch (error) {
    throw ToolError.nonRetryable(`the workbook cannot be written: ${errorMessage(error)}`, error);
  } finally {
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }
}

/** Node.js says this in place of the id of a thread that has ended. */
const ENDED = -1;

/** Sends the rows in parts: copying all of them at once would hold the event loop. */
async function sendSheets(
  tables: readonly NamedTable[],
  worker: Worker,
  attempt: WorkingAttempt,
): Promise<void> {
  for (const message of toMessages(tables)) {
    if (worker.threadId === ENDED) return;
    worker.postMessage(message);
    await pauseWhenOver(attempt);
  }
  worker.postMessage(null);
}

const ROWS_PER_STEP = 20_000;

/** @throws ToolError, not retryable */
function* assertFitsInSteps(tables: readonly NamedTable[]): Steps<void> {
  let cells = 0;
  let rowsOfAll = 0;
  for (const { table } of tables) {
    const { columns = [], rows } = table;
    cells += columns.length;
    for (const row of rows) {
      cells += row.length;
      if (++rowsOfAll % ROWS_PER_STEP === 0) yield;
    }
    if (cells <= EXPORT_LIMITS.cells && rows.length < EXPORT_LIMITS.rows) continue;
    throw ToolError.nonRetryable(
      `a workbook may have ${EXPORT_LIMITS.cells} cells and ${EXPORT_LIMITS.rows} rows in a sheet: write CSV, or several files`,
    );
  }
}

/** So many cells, or letters of their texts, are converted and sent at once. */
const CELLS_PER_MESSAGE = 1000;
const LETTERS_PER_MESSAGE = 32 * 1024;

function* toMessages(tables: readonly NamedTable[]): Generator<SheetMessage> {
  const names = new Set<string>();
  for (const { name, table } of tables) {
    const hasHeader = table.columns !== undefined;
    yield { sheet: toSheetName(name, names), hasHeader, rows: [], isContinued: false };
    for (const part of toParts(table)) yield { sheet: undefined, hasHeader, ...part };
  }
}

type Part = Pick<SheetMessage, 'rows' | 'isContinued'>;

/** Cuts rows also inside: a single one may have all cells of the workbook. */
function* toParts({ columns, rows }: Table): Generator<Part> {
  let part: SheetCell[][] = [];
  let isContinued = false;
  let cells = 0;
  let letters = 0;
  const isFull = (): boolean => cells >= CELLS_PER_MESSAGE || letters >= LETTERS_PER_MESSAGE;
  const begin = (first: SheetCell[][]): void => {
    part = first;
    isContinued = first.length > 0;
    cells = 0;
    letters = 0;
  };
  for (const [source, convert] of rowsOf(columns, rows)) {
    let row: SheetCell[] = [];
    part.push(row);
    cells++;
    for (const cell of source) {
      if (isFull()) {
        yield { rows: part, isContinued };
        row = [];
        begin([row]);
      }
      row.push(convert(cell));
      cells++;
      if (typeof cell === 'string') letters += cell.length;
    }
    if (!isFull()) continue;
    yield { rows: part, isContinued };
    begin([]);
  }
  if (part.length > 0) yield { rows: part, isContinued };
}

function* rowsOf(
  columns: Table['columns'],
  rows: Table['rows'],
): Generator<[readonly Cell[], (cell: Cell) => SheetCell]> {
  // The name of a column is never a date.
  if (columns !== undefined) yield [columns, (name) => toText(String(name))];
  for (const row of rows) yield [row, toSheetCell];
}

const DATE = /^(19|[2-9]\d)\d{2}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

function toSheetCell(cell: Cell): SheetCell {
  if (typeof cell !== 'string') return cell;
  const time = DATE.test(cell) ? Date.parse(cell) : Number.NaN;
  // "2025-02-30" is not a date, and Date.parse takes it for one in March.
  const isDate = !Number.isNaN(time) && (cell.length > 10 || new Date(time).toISOString().startsWith(cell));
  return isDate ? { t: time, hasTime: cell.length > 10 } : toText(cell);
}

// oxlint-disable-next-line no-control-regex -- XML cannot hold them
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

function toText(text: string): string {
  if (text.length > EXPORT_LIMITS.cellLength)
    throw ToolError.nonRetryable(
      `${describeCellLength(EXPORT_LIMITS.cellLength)}, and a text has ${text.length}: write CSV or JSON`,
    );
  return text.replaceAll(NOT_IN_XML, '?');
}

const MAX_SHEET_NAME = 31;

/** Makes a name that spreadsheets accept, and that no other sheet has. */
function toSheetName(name: string, taken: Set<string>): string {
  const clean = toText(name.slice(0, 200))
    .replaceAll(/[[\]:*?/\\\r\n\t]/g, ' ')
    .replaceAll(/^[' ]+|[' ]+$/g, '')
    .slice(0, MAX_SHEET_NAME);
  const base = clean === '' || clean.toLowerCase() === 'history' ? `Sheet ${clean}`.trim() : clean;
  for (let number = 1; ; number++) {
    const end = number === 1 ? '' : ` ${number}`;
    const candidate = base.slice(0, MAX_SHEET_NAME - end.length) + end;
    if (taken.has(candidate.toLowerCase())) continue;
    taken.add(candidate.toLowerCase());
    return candidate;
  }
}
