import { extname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { errorCode, errorMessage, ToolError } from '../../common/errors.js';
import { setOwn } from '../../common/json.js';
import type { DocumentContent } from './document.js';

const SLICE_BYTES = 2 ** 16;
const DELIMITERS = [',', ';', '\t'] as const;

/**
 * Parses comma-separated values whose first line names the columns. Detects semicolons and tabs by that line; skips
 * empty lines. A cell becomes a number only when the number prints as the same text: `007` and `1.50` stay text.
 *
 * Yields to the event loop between slices; `signal` aborts it.
 *
 * @throws ToolError, not retryable, with the invalid line and the reason
 */
export async function parseCsv(
  bytes: Buffer,
  text: string,
  source: string,
  signal: AbortSignal,
): Promise<DocumentContent> {
  const { parse } = await import('csv-parse');
  let columns: readonly string[] = [];
  const rows: Record<string, string | number>[] = [];
  const parser = parse({ bom: true, skip_empty_lines: true, delimiter: detectDelimiter(text, source) });
  try {
    await pipeline(
      slices(bytes),
      parser,
      async (records: AsyncIterable<string[]>) => {
        for await (const cells of records) {
          if (columns.length === 0) columns = parseHeader(cells);
          else rows.push(toRow(columns, cells));
        }
      },
      { signal },
    );
  } catch (cause) {
    const message = signal.aborted ? 'stopped' : `"${source}" is not a table: ${describeError(cause)}`;
    throw ToolError.nonRetryable(message, cause);
  }
  return { columns, rows };
}

function parseHeader(cells: readonly string[]): string[] {
  const columns = cells.map((cell) => cell.trim());
  const unnamed = columns.indexOf('');
  if (unnamed !== -1)
    throw new Error(`its first line must name the columns, and column ${unnamed + 1} has no name`);
  const seen = new Set<string>();
  for (const column of columns) {
    if (seen.has(column)) throw new Error(`two columns are named "${column}"`);
    seen.add(column);
  }
  if (columns.every((column) => typeof parseCell(column) === 'number')) {
    throw new Error('its first line must name the columns, but holds only numbers');
  }
  return columns;
}

function toRow(columns: readonly string[], cells: readonly string[]): Record<string, string | number> {
  const row: Record<string, string | number> = {};
  for (const [i, column] of columns.entries()) setOwn(row, column, parseCell(cells[i] ?? ''));
  return row;
}

function parseCell(cell: string): string | number {
  const number = Number(cell);
  return Number.isFinite(number) && String(number) === cell ? number : cell;
}

/** Selects the delimiter that occurs most often in the first line, outside of quotes. */
function detectDelimiter(text: string, source: string): string {
  if (extname(source).toLowerCase() === '.tsv') return '\t';
  const start = text.search(/\S/);
  const end = text.indexOf('\n', start);
  const line = text.slice(Math.max(0, start), end === -1 ? text.length : end).replaceAll(/"[^"]*"/g, '');
  const counted = DELIMITERS.map((delimiter) => ({ delimiter, count: line.split(delimiter).length }));
  return counted.reduce((best, next) => (next.count > best.count ? next : best)).delimiter;
}

/** Yields to the event loop after every slice. */
async function* slices(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    yield bytes.subarray(at, at + SLICE_BYTES);
    await setImmediate();
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
