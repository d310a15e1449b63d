import { ToolError } from '../../common/errors.js';
import { isObject, type Json, type JsonObject } from '../../common/json.js';
import { EXPORT_LIMITS } from '../../common/limits.js';
import type { Steps } from '../../common/steps.js';

/** Rows of cells. A cell is a text, a number, a boolean or null; lists and objects in it are JSON text. */
export interface Table {
  /** Undefined when the data has no names for them. */
  readonly columns: readonly string[] | undefined;
  readonly rows: readonly (readonly Cell[])[];
}

export type Cell = string | number | boolean | null;

const MEMBERS_PER_STEP = 500;
const CELLS_PER_STEP = 5000;

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
    return { columns: undefined, rows: data.map((row) => row.map(toCell)) };
  }
  if (isObject(data)) {
    return {
      columns: ['field', 'value'],
      rows: Object.entries(data).map(([key, value]) => [key, toCell(value)]),
    };
  }
  if (data === null) return { columns: undefined, rows: [] };
  const values = Array.isArray(data) ? data : [data];
  return { columns: ['value'], rows: values.map((value) => [toCell(value)]) };
}

/** Returns a list of objects as such; undefined for anything else, and for an empty list. */
export function asObjects(data: Json): readonly JsonObject[] | undefined {
  if (!Array.isArray(data) || data.length === 0) return undefined;
  const objects = data.filter((element): element is JsonObject => isObject(element));
  return objects.length === data.length ? objects : undefined;
}

function* fromObjects(objects: readonly JsonObject[]): Steps<Table> {
  const columns = yield* keysOf(objects);
  const rows: Cell[][] = [];
  let left = CELLS_PER_STEP;
  for (const object of objects) {
    rows.push(
      columns.map((column) => (Object.hasOwn(object, column) ? toCell(object[column] ?? null) : null)),
    );
    left -= columns.length;
    if (left > 0) continue;
    left = CELLS_PER_STEP;
    yield;
  }
  return { columns, rows };
}

/**
 * The keys of all objects, in the order in which they appear.
 *
 * @throws ToolError, not retryable, when a cell for each key of each object would be too many
 */
export function* keysOf(objects: readonly JsonObject[]): Steps<string[]> {
  const keys = new Set<string>();
  for (const [index, object] of objects.entries()) {
    for (const key of Object.keys(object)) keys.add(key);
    if (keys.size * objects.length > EXPORT_LIMITS.tableCells) {
      throw ToolError.nonRetryable(
        `a table of these ${objects.length} objects would have more than ${EXPORT_LIMITS.tableCells} cells, because their keys differ: write JSON, or give a schema`,
      );
    }
    if (index % MEMBERS_PER_STEP === MEMBERS_PER_STEP - 1) yield;
  }
  return [...keys];
}

export function toCell(value: Json): Cell {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

/** Writes JSON indented by 2, a few members of the outermost list or object at a time. */
export function* toJsonTextInSteps(data: Json): Steps<string> {
  const members = Array.isArray(data) ? data : isObject(data) ? Object.values(data) : [];
  if (members.length === 0) return JSON.stringify(data, null, 2);
  const keys = Array.isArray(data) ? undefined : Object.keys(data as object);
  const parts: string[] = [];
  for (const [index, member] of members.entries()) {
    if (index % MEMBERS_PER_STEP === MEMBERS_PER_STEP - 1) yield;
    const key = keys === undefined ? '' : `${JSON.stringify(keys[index])}: `;
    parts.push(`  ${key}${JSON.stringify(member, null, 2).replaceAll('\n', '\n  ')}`);
  }
  const [open, close] = keys === undefined ? '[]' : '{}';
  return `${open}\n${parts.join(',\n')}\n${close}`;
}
