import { isObject, type Json, type JsonObject } from '../../../common/json.js';
import type { Steps } from '../../../common/steps.js';
import { FIELD_NOT_FOUND } from '../../schemas/schema.js';
import { asObjects, type Cell, CELLS_PER_STEP, keysOf, toCell, toTableInSteps } from './table.js';

export interface MarkdownOptions {
  readonly title: string;
  /** Objects with `label`, or texts: the columns of a list of objects. */
  readonly periods: readonly Json[] | null;
  readonly metadata: JsonObject | null;
  readonly notes: Json;
}

/** A longer list of objects has a row for each object, unless periods are given. */
const MAX_PERIODS = 12;
const DASH = '—';

/** Writes data as Markdown: a heading, the metadata, the data as a table or a text, and the notes of analysts. */
export function* toMarkdownInSteps(data: Json, options: MarkdownOptions): Steps<string> {
  const { title, metadata, notes } = options;
  const parts = [`# ${toLine(title)}`];
  if (metadata !== null) parts.push(yield* toRows(['Field', 'Value'], entriesOf(metadata)));
  parts.push(yield* toBody(data, options.periods));
  if (notes !== null) parts.push('## Analyst notes', yield* toNotes(notes));
  return `${parts.join('\n\n')}\n`;
}

function* toBody(data: Json, periods: readonly Json[] | null): Steps<string> {
  if (isObject(data)) return yield* toRows(['Field', 'Value'], entriesOf(data));
  const objects = asObjects(data);
  if (objects !== undefined && (periods !== null || objects.length <= MAX_PERIODS)) {
    const labels = objects.map((_, index) => labelOf(periods?.[index], index));
    const rows: Cell[][] = [];
    for (const key of yield* keysOf(objects)) {
      const cells = objects.map((object) =>
        Object.hasOwn(object, key) ? toCell(object[key] ?? null) : null,
      );
      rows.push([key, ...cells]);
      yield;
    }
    return yield* toRows(['Field', ...labels], rows);
  }
  if (!Array.isArray(data)) return data === null ? DASH : String(data);
  const { columns, rows } = yield* toTableInSteps(data);
  if (rows.length === 0) return DASH;
  return yield* toRows(columns ?? rows[0]?.map((_, index) => `Column ${index + 1}`) ?? [], rows);
}

function labelOf(period: Json | undefined, index: number): string {
  const label = isObject(period) ? period['label'] : period;
  return typeof label === 'string' || typeof label === 'number' ? String(label) : `Period ${index + 1}`;
}

function entriesOf(object: JsonObject): Cell[][] {
  return Object.entries(object).map(([key, value]) => [key, toCell(value)]);
}

/** Notes are a text, a list of `{period, line_item, note}` or of texts, or an object with such a list. */
export function listNotes(notes: Json): Cell[][] {
  const list = isObject(notes) && Array.isArray(notes['notes']) ? notes['notes'] : notes;
  const entries = Array.isArray(list) ? list : [list];
  return entries.map((note, index) =>
    isObject(note)
      ? [index + 1, ...['period', 'line_item', 'note'].map((key) => toCell(note[key] ?? null))]
      : [index + 1, null, null, toCell(note)],
  );
}

export const NOTE_COLUMNS = ['#', 'Period', 'Line Item', 'Note'] as const;

function* toNotes(notes: Json): Steps<string> {
  return yield* toRows(NOTE_COLUMNS, listNotes(notes));
}

/** A column of numbers is aligned to the right; its empty cells do not count. */
function* toRows(columns: readonly string[], rows: readonly (readonly Cell[])[]): Steps<string> {
  const lines = [toRow(columns), ''];
  const alignments = columns.map((): Alignment => 'unknown');
  let cells = 0;
  for (const row of rows) {
    cells += row.length + 1;
    if (cells >= CELLS_PER_STEP) {
      cells = 0;
      yield;
    }
    lines.push(toRow(row));
    for (const [column, cell] of row.entries()) {
      if (isEmpty(cell)) continue;
      if (typeof cell !== 'number') alignments[column] = 'left';
      else if (alignments[column] === 'unknown') alignments[column] = 'right';
    }
  }
  lines[1] = `|${columns.map((_, column) => (alignments[column] === 'right' ? '---:|' : '---|')).join('')}`;
  return lines.join('\n');
}

/** Unknown until a cell is not empty. */
type Alignment = 'unknown' | 'left' | 'right';

function toRow(cells: readonly Cell[]): string {
  return `| ${cells.map(formatCell).join(' | ')} |`;
}

function formatCell(cell: Cell): string {
  if (isEmpty(cell)) return DASH;
  return toLine(String(cell)).replaceAll('|', '\\|');
}

function isEmpty(cell: Cell): boolean {
  return cell === null || cell === '' || cell === FIELD_NOT_FOUND;
}

function toLine(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll(/\r\n?|\n/g, '<br>');
}
