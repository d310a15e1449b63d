import { ToolError } from '../../../common/errors.js';
import { isObject, type Json, type JsonObject } from '../../../common/json.js';
import { EXPORT_LIMITS } from '../../../common/limits.js';
import type { Steps } from '../../../common/steps.js';

/** Rows of cells. A cell is a text, a number, a boolean or null; lists and objects in it are JSON text. */
export interface Table {
  /** Undefined when the data has no names for them. */
  readonly columns: readonly string[] | undefined;
  readonly rows: readonly (readonly Cell[])[];
}

export type Cell = string | number | boolean | null;

/** As many cells are made, or keys looked at, in one step. */
export const CELLS_PER_STEP = 2000;

/**
 * Lays data out as rows: a list of objects with a column for each key, in the order in which keys appear; a list of lists
 * as it is; an object with a row for each key; anything else in a single column.
 *
 * @throws ToolError, not retryable, for objects whose keys would make too many cells
 */
export function* toTableInSteps(data: Json): Steps<Table> {
  const objects = asObjects(data);
  if (objects !== undefined) return yield* fromObjects(objects);
  if (Array.isArray(data) && data.length > 0 && data.every((row): row is Json[] => Array.isArray(row))) {
    return { columns: undefined, rows: yield* toRows(data, (row) => row) };
  }
  if (isObject(data)) {
    return { columns: ['field', 'value'], rows: yield* toRows(Object.entries(data), (entry) => entry) };
  }
  if (data === null) return { columns: undefined, rows: [] };
  const values = Array.isArray(data) ? data : [data];
  return { columns: ['value'], rows: yield* toRows(values, (value) => [value]) };
}

function* toRows<T>(items: readonly T[], listCells: (item: T) => Iterable<Json>): Steps<Cell[][]> {
  const rows: Cell[][] = [];
  let count = 0;
  for (const item of items) {
    const row: Cell[] = [];
    for (const cell of listCells(item)) {
      row.push(toCell(cell));
      if (++count % CELLS_PER_STEP === 0) yield;
    }
    rows.push(row);
    // A row counts, too: it may be empty.
    if (++count % CELLS_PER_STEP === 0) yield;
    if (count > EXPORT_LIMITS.tableParts) {
      throw ToolError.nonRetryable(
        `a table would have more than ${EXPORT_LIMITS.tableParts} cells and rows: write JSON, or several files`,
      );
    }
  }
  return rows;
}

/** Returns a list of objects as such; undefined for anything else, and for an empty list. */
export function asObjects(data: Json): readonly JsonObject[] | undefined {
  if (!Array.isArray(data) || data.length === 0) return undefined;
  const objects = data.filter((element): element is JsonObject => isObject(element));
  return objects.length === data.length ? objects : undefined;
}

function* fromObjects(objects: readonly JsonObject[]): Steps<Table> {
  const columns = yield* keysOf(objects);
  const rows = yield* toRows(objects, function* (object) {
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
    if (keys.size * objects.length > EXPORT_LIMITS.tableCells) {
      throw ToolError.nonRetryable(
        `a table of these ${objects.length} objects would have more than ${EXPORT_LIMITS.tableCells} cells, because their keys differ: write JSON, or give a schema`,
      );
    }
    if (count % CELLS_PER_STEP === 0) yield;
  }
  return [...keys];
}

export function toCell(value: Json): Cell {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}
