import { ToolError } from '../../../common/errors.js';
import { isObject, type Json, type JsonObject, subtractJsonLength } from '../../../common/json/json.js';
import { EXPORT_LIMITS, MAX_ARTIFACT_BYTES } from '../../../common/limits.js';
import { StepCounter, type Steps } from '../../../common/scheduling/steps.js';
import { formatMebibytes } from '../../../common/text.js';
import { BoundedText, LETTERS_PER_STEP } from './bounded-text.js';
import { toJsonTextInSteps } from './json-text.js';

/** Rows of cells. A cell is a text, a number, a boolean or null; lists and objects in it are JSON text. */
export interface Table {
  /** Undefined when the data has no names for the columns. */
  readonly columns: readonly string[] | undefined;
  readonly rows: readonly (readonly Cell[])[];
}

export type Cell = string | number | boolean | null;

/** As many cells are looked at, or keys, in one step. */
export const CELLS_PER_STEP = 2000;

/** A cell takes as much time as so many letters of a text. */
const CELL_LETTERS = LETTERS_PER_STEP / CELLS_PER_STEP;

/** The JSON text of a value that is not longer is made at once. */
const SHORT_JSON = 1000;

/**
 * Makes the cells of all tables of one file, and keeps them within its limits. Data may contain the same list thousands of
 * times: it is small in memory, and each cell would be a text of its own.
 */
export class CellMaker {
  #parts = 0;
  #letters = 0;
  readonly #counter = new StepCounter(LETTERS_PER_STEP);
  readonly #cellLength: number;

  /** @param cellLength of the JSON text of a value; that of all cells together is limited besides */
  constructor(cellLength: number = MAX_ARTIFACT_BYTES) {
    this.#cellLength = cellLength;
  }

  /**
   * Makes a row of each item.
   *
   * @throws ToolError, not retryable, when there are too many cells, or their text is too long
   */
  *toRows<T>(items: Iterable<T>, listCells: (item: T, index: number) => Iterable<Json>): Steps<Cell[][]> {
    const rows: Cell[][] = [];
    for (const item of items) {
      const row: Cell[] = [];
      for (const value of listCells(item, rows.length)) {
        row.push(isScalar(value) ? this.#count(value) : yield* this.#toText(value));
        if (this.#counter.isOver()) yield;
      }
      rows.push(row);
      // A row counts, too: it may be empty.
      this.#count(null);
      if (this.#counter.isOver()) yield;
    }
    return rows;
  }

  /** Counts the names of columns, too: a sheet may have the same ones as many others. */
  *toColumns(names: Iterable<string>): Steps<string[]> {
    const columns: string[] = [];
    for (const name of names) {
      this.#count(name);
      columns.push(name);
      if (this.#counter.isOver()) yield;
    }
    return columns;
  }

  entriesOf(object: JsonObject): Steps<Cell[][]> {
    return this.toRows(Object.keys(object), (key) => [key, object[key] ?? null]);
  }

  *#toText(value: Json): Steps<string> {
    const isShort = subtractJsonLength(Math.min(SHORT_JSON, this.#cellLength), value) >= 0;
    const text = isShort
      ? JSON.stringify(value)
      : yield* toJsonTextInSteps(value, 'compact', new BoundedText(...this.#bounds()));
    this.#count(text);
    return text;
  }

  /** How long the next text may be, and what is said of a longer one. */
  #bounds(): [number, string] {
    const left = MAX_ARTIFACT_BYTES - this.#letters;
    return this.#cellLength < left
      ? [
          this.#cellLength,
          `${describeCellLength(this.#cellLength)}, and a list or an object has more: write JSON`,
        ]
      : [left, TOO_LONG];
  }

  #count(cell: Cell): Cell {
    const letters = typeof cell === 'string' ? cell.length : 0;
    this.#letters += letters;
    this.#counter.add(CELL_LETTERS + letters);
    if (this.#letters > MAX_ARTIFACT_BYTES) throw ToolError.nonRetryable(TOO_LONG);
    if (++this.#parts <= EXPORT_LIMITS.tableParts) return cell;
    throw ToolError.nonRetryable(
      `a table would have more than ${EXPORT_LIMITS.tableParts} cells and rows: write JSON, or several files`,
    );
  }
}

const TOO_LONG = `the text of all cells is longer than ${formatMebibytes(MAX_ARTIFACT_BYTES)}: export less, or in several files`;

/** Says what a cell of a workbook may have. */
export function describeCellLength(length: number): string {
  return `a cell of a workbook may have ${length} characters`;
}

function isScalar(value: Json): value is Cell {
  return typeof value !== 'object' || value === null;
}

/**
 * Lays data out as rows: a list of objects with a column for each key, in the order in which keys appear; a list of lists
 * as it is; an object with a row for each key; anything else in a single column.
 *
 * @throws ToolError, not retryable, for objects whose keys would make too many cells, and as `CellMaker` does
 */
export function* toTableInSteps(data: Json, cells: CellMaker = new CellMaker()): Steps<Table> {
  if (Array.isArray(data) && data.length > 0) {
    const objects = yield* asObjects(data);
    if (objects !== undefined) return yield* fromObjects(objects, cells);
    if (yield* isEvery(data, Array.isArray))
      return { columns: undefined, rows: yield* cells.toRows(data as Json[][], (row) => row) };
  }
  if (isObject(data)) return { columns: ['field', 'value'], rows: yield* cells.entriesOf(data) };
  if (data === null) return { columns: undefined, rows: [] };
  const values = Array.isArray(data) ? data : [data];
  return { columns: ['value'], rows: yield* cells.toRows(values, (value) => [value]) };
}

/** Returns a list of objects as such; undefined for anything else, and for an empty list. */
export function* asObjects(data: Json): Steps<readonly JsonObject[] | undefined> {
  if (!Array.isArray(data) || data.length === 0) return undefined;
  return (yield* isEvery(data, isObject)) ? (data as JsonObject[]) : undefined;
}

const ELEMENTS_PER_STEP = 20_000;

function* isEvery(list: readonly Json[], isSuch: (element: Json) => boolean): Steps<boolean> {
  let count = 0;
  for (const element of list) {
    if (!isSuch(element)) return false;
    if (++count % ELEMENTS_PER_STEP === 0) yield;
  }
  return true;
}

function* fromObjects(objects: readonly JsonObject[], cells: CellMaker): Steps<Table> {
  const columns = yield* cells.toColumns(yield* keysOf(objects));
  const rows = yield* cells.toRows(objects, function* (object) {
    for (const column of columns) yield Object.hasOwn(object, column) ? (object[column] ?? null) : null;
  });
  return { columns, rows };
}

/**
 * The keys of all objects, in the order in which they appear.
 *
 * @throws ToolError, not retryable, when a cell for each key of each object would be too many
 */
export function* keysOf(objects: readonly JsonObject[]): Steps<string[]> {
  const keys = new Set<string>();
  let count = 0;
  for (const object of objects) {
    count++;
    for (const key of Object.keys(object)) {
      keys.add(key);
      if (++count % CELLS_PER_STEP === 0) yield;
    }
    if (keys.size * objects.length > EXPORT_LIMITS.tableCells)
      throw ToolError.nonRetryable(
        `a table of these ${objects.length} objects would have more than ${EXPORT_LIMITS.tableCells} cells, because their keys differ: write JSON, or give a schema`,
      );
    if (count % CELLS_PER_STEP === 0) yield;
  }
  return [...keys];
}
