import type { Json } from '../../../common/json/json.js';
import type { SqlColumn, SqlCursor, SqlRow } from './database.js';

/** The formats of files of rows, and their media types. */
export const ROW_FORMATS = { csv: 'text/csv', jsonl: 'application/x-ndjson' } as const;

export type RowFormat = keyof typeof ROW_FORMATS;

/** Letters that are encoded and written at once. */
const PIECE_LENGTH = 256 * 1024;

/** Characters for which a cell of CSV needs quotes. */
const NEEDS_QUOTES = /[",\r\n]/;

/** Writes rows as CSV (RFC 4180, with a line of names) or as a JSON object on each line. */
export class RowWriter {
  rowCount = 0;
  readonly #columns: readonly SqlColumn[];
  readonly #format: RowFormat;
  readonly #keys: readonly string[];

  constructor(columns: readonly SqlColumn[], format: RowFormat) {
    this.#columns = columns;
    this.#format = format;
    this.#keys = columns.map(({ name }) => `${JSON.stringify(name)}:`);
  }

  /** Yields the bytes of all rows. @param pause awaited between batches of rows */
  async *write(cursor: SqlCursor, pause: () => Promise<void> | undefined): AsyncGenerator<Uint8Array> {
    if (cursor.csvRowCount !== undefined) return yield* this.#writeMade(cursor, pause);
    let text = this.#format === 'csv' ? this.#csvHead : '';
    for (let rows = await cursor.read(); rows !== undefined; rows = await cursor.read()) {
      this.rowCount += rows.length;
      text += this.#format === 'csv' ? toCsv(rows) : this.#toLines(rows);
      if (text.length < PIECE_LENGTH) continue;
      yield Buffer.from(text);
      text = '';
      await pause();
    }
    if (text !== '') yield Buffer.from(text);
  }

  /** Lines that the cursor has made itself. */
  async *#writeMade(cursor: SqlCursor, pause: () => Promise<void> | undefined): AsyncGenerator<Uint8Array> {
    yield Buffer.from(this.#csvHead);
    for (let lines = await cursor.readCsv?.(); lines !== undefined; lines = await cursor.readCsv?.()) {
      yield lines;
      await pause();
    }
    this.rowCount = cursor.csvRowCount ?? 0;
  }

  get #csvHead(): string {
    return `${this.#columns.map(({ name }) => quote(name)).join(',')}\n`;
  }

  #toLines(rows: readonly SqlRow[]): string {
    let text = '';
    for (const row of rows) {
      let separator = '{';
      for (const [index, value] of row.entries()) {
        text += separator + (this.#keys[index] ?? '') + JSON.stringify(value);
        separator = ',';
      }
      text += row.length === 0 ? '{}\n' : '}\n';
    }
    return text;
  }
}

function toCsv(rows: readonly SqlRow[]): string {
  let text = '';
  for (const row of rows) {
    for (let index = 0; index < row.length; index++) {
      if (index > 0) text += ',';
      text += toCell(row[index] ?? null);
    }
    text += '\n';
  }
  return text;
}

/** Null is an empty cell, and an empty text has quotes. */
function toCell(value: Json): string {
  if (value === null) return '';
  if (typeof value === 'string') return value === '' ? '""' : quote(value);
  return typeof value === 'object' ? quote(JSON.stringify(value)) : String(value);
}

function quote(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
