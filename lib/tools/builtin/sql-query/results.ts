import type { Json, JsonObject } from '../../../common/json/json.js';
import { setOwn } from '../../../common/json/json.js';
import { pauseWhenOver } from '../../../common/scheduling/run-in-slices.js';
import { formatMebibytes, formatNumber } from '../../../common/text.js';
import type { ToolContext } from '../../tool.js';
import type { WrittenArtifact } from '../../files/artifacts.js';
import type { SqlColumn, SqlCursor, SqlRow } from './database.js';
import { SQL_LIMITS } from './limits.js';
import { type RowFormat, ROW_FORMATS, RowWriter } from './row-files.js';

/** The result of one statement, as a task gets it. */
export interface SqlResult {
  readonly columns: readonly SqlColumn[];
  /** As objects by the names of the columns; empty when they are in a file. */
  readonly rows: readonly JsonObject[];
  /** Rows in `rows` or in the file. */
  readonly row_count: number;
  /** True when the database had more rows. */
  readonly truncated: boolean;
  /** Rows that the statement has inserted, changed or deleted; null for one that does not. */
  readonly changed: number | null;
  /** The file with all rows; null when they are values. */
  readonly artifact: WrittenArtifact | null;
}

/** Memory of a value besides its letters, and of a row. */
const VALUE_BYTES = 24;
const ROW_BYTES = 64;

/** Reads rows as values, at most so many, and at most so much of them that a value of a run can hold. */
export async function readRowValues(
  cursor: SqlCursor,
  maxRows: number,
  context: ToolContext,
): Promise<SqlResult> {
  const columns = nameColumns(cursor.columns);
  const rows: JsonObject[] = [];
  let length = 0;
  let cut: string | undefined;
  for (
    let batch = await cursor.read();
    batch !== undefined && cut === undefined;
    batch = await cursor.read()
  ) {
    await pauseWhenOver(context);
    let batchLength = 0;
    for (const row of batch) {
      const rowLength = measureRow(row, columns);
      if (rows.length >= maxRows) cut = `max_rows (${formatNumber(maxRows)})`;
      else if (length + rowLength > SQL_LIMITS.valuesLength) cut = formatMebibytes(SQL_LIMITS.valuesLength);
      if (cut !== undefined) break;
      rows.push(toObject(row, columns));
      length += rowLength;
      batchLength += rowLength;
    }
    context.holdMemory(2 * batchLength);
    if (cut !== undefined) break;
  }
  await cursor.close();
  if (cut !== undefined)
    context.log(
      `the result was cut after ${formatNumber(rows.length)} rows, at ${cut}: with format: csv or jsonl, all rows become a file`,
    );
  const { changed = null } = cursor;
  return { columns, rows, row_count: rows.length, truncated: cut !== undefined, changed, artifact: null };
}

/** Writes all rows to a file of the run, as they come. */
export async function writeRowFile(
  cursor: SqlCursor,
  format: RowFormat,
  filename: string,
  context: ToolContext,
): Promise<SqlResult> {
  const columns = nameColumns(cursor.columns);
  const writer = new RowWriter(columns, format);
  const artifact = await context.artifacts.write({
    name: filename,
    bytes: writer.write(cursor, () => pauseWhenOver(context)),
    media_type: ROW_FORMATS[format],
  });
  await cursor.close();
  return {
    columns,
    rows: [],
    row_count: writer.rowCount,
    truncated: false,
    changed: cursor.changed ?? null,
    artifact,
  };
}

/** Gives each column a name of its own: `id`, `id_2`. */
function nameColumns(columns: readonly SqlColumn[]): SqlColumn[] {
  const taken = new Set<string>();
  return columns.map(({ name, type }) => {
    let unique = name;
    for (let number = 2; taken.has(unique); number++) unique = `${name}_${number}`;
    taken.add(unique);
    return { name: unique, type };
  });
}

function toObject(row: SqlRow, columns: readonly SqlColumn[]): JsonObject {
  const object: JsonObject = {};
  for (const [index, { name }] of columns.entries()) setOwn(object, name, row[index] ?? null);
  return object;
}

function measureRow(row: SqlRow, columns: readonly SqlColumn[]): number {
  let length = ROW_BYTES;
  for (const [index, value] of row.entries())
    length += VALUE_BYTES + (columns[index]?.name.length ?? 0) + measureValue(value);
  return length;
}

function measureValue(value: Json): number {
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' && value !== null ? JSON.stringify(value).length : 0;
}
