import { isObject, type Json, type JsonObject } from '../../../common/json/json.js';
import type { Steps } from '../../../common/scheduling/steps.js';
import { FIELD_NOT_FOUND } from '../../schemas/schema.js';
import { BoundedText, isLongText, piecesOf } from './bounded-text.js';
import { asObjects, type Cell, CellMaker, CELLS_PER_STEP, keysOf, toTableInSteps } from './table.js';

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

/**
 * Writes data as Markdown: a heading, the metadata, the data as a table or a text, and the notes of analysts.
 *
 * @throws ToolError, not retryable, as soon as the text is longer than a file may be
 */
export function* toMarkdownInSteps(data: Json, options: MarkdownOptions): Steps<string> {
  const { title, metadata, notes } = options;
  const text = new BoundedText();
  const cells = new CellMaker();
  text.add(`# ${toLine(title)}\n\n`);
  if (metadata !== null) {
    yield* addTable(text, FIELD_COLUMNS, yield* cells.entriesOf(metadata));
    text.add('\n\n');
  }
  yield* addBody(text, data, options.periods, cells);
  if (notes !== null) {
    text.add('\n\n## Analyst notes\n\n');
    yield* addTable(text, NOTE_COLUMNS, yield* listNotesInSteps(notes, cells));
  }
  text.add('\n');
  return text.toString();
}

const FIELD_COLUMNS = ['Field', 'Value'] as const;

function* addBody(
  text: BoundedText,
  data: Json,
  periods: readonly Json[] | null,
  cells: CellMaker,
): Steps<void> {
  if (isObject(data)) return yield* addTable(text, FIELD_COLUMNS, yield* cells.entriesOf(data));
  const objects = yield* asObjects(data);
  if (objects !== undefined && (periods !== null || objects.length <= MAX_PERIODS))
    return yield* addPeriods(text, objects, periods, cells);
  if (!Array.isArray(data)) return text.add(data === null ? DASH : String(data));
  const { columns, rows } = yield* toTableInSteps(data, cells);
  if (rows.length === 0) return text.add(DASH);
  return yield* addTable(text, columns ?? rows[0]?.map((_, index) => `Column ${index + 1}`) ?? [], rows);
}

/** Writes a column for each object, and a row for each key. */
function* addPeriods(
  text: BoundedText,
  objects: readonly JsonObject[],
  periods: readonly Json[] | null,
  cells: CellMaker,
): Steps<void> {
  const keys = yield* keysOf(objects);
  const labels = yield* cells.toColumns(
    (function* () {
      yield 'Field';
      for (const index of objects.keys()) yield labelOf(periods?.[index], index);
    })(),
  );
  const rows = yield* cells.toRows(keys, function* (key) {
    yield key;
    for (const object of objects) yield Object.hasOwn(object, key) ? (object[key] ?? null) : null;
  });
  yield* addTable(text, labels, rows);
}

function labelOf(period: Json | undefined, index: number): string {
  const label = isObject(period) ? period['label'] : period;
  return typeof label === 'string' || typeof label === 'number' ? String(label) : `Period ${index + 1}`;
}

/** Notes are a text, a list of `{period, line_item, note}` or of texts, or an object with such a list. */
export function listNotesInSteps(notes: Json, cells: CellMaker): Steps<Cell[][]> {
  const list = isObject(notes) && Array.isArray(notes['notes']) ? notes['notes'] : notes;
  const entries = Array.isArray(list) ? list : [list];
  return cells.toRows(entries, (note, index) =>
    isObject(note)
      ? [index + 1, ...NOTE_KEYS.map((key) => note[key] ?? null)]
      : [index + 1, null, null, note],
  );
}

const NOTE_KEYS = ['period', 'line_item', 'note'] as const;
export const NOTE_COLUMNS = ['#', 'Period', 'Line Item', 'Note'] as const;

function* addTable(
  text: BoundedText,
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
): Steps<void> {
  const alignments = yield* findAlignments(rows);
  yield* addRow(text, columns);
  text.add('\n|');
  for (const column of columns.keys()) {
    text.add(alignments[column] === 'right' ? '---:|' : '---|');
    if (text.flush()) yield;
  }
  for (const row of rows) {
    text.add('\n');
    yield* addRow(text, row);
  }
}

/** Undefined until a cell is not empty. */
type Alignment = 'left' | 'right' | undefined;

/** A column of numbers is aligned to the right; its empty cells do not count. */
function* findAlignments(rows: readonly (readonly Cell[])[]): Steps<Alignment[]> {
  const alignments: Alignment[] = [];
  let cells = 0;
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      if (++cells % CELLS_PER_STEP === 0) yield;
      if (isEmpty(cell)) continue;
      if (typeof cell !== 'number') alignments[column] = 'left';
      else alignments[column] ??= 'right';
    }
    if (++cells % CELLS_PER_STEP === 0) yield;
  }
  return alignments;
}

function* addRow(text: BoundedText, cells: readonly Cell[]): Steps<void> {
  // A row without cells has a space between its bars, too.
  let before = '| ';
  if (cells.length === 0) text.add(before);
  for (const cell of cells) {
    if (isLongText(cell)) {
      text.add(before);
      yield* addLongCell(text, cell);
    } else {
      text.add(before + formatCell(cell));
    }
    before = ' | ';
    if (text.flush()) yield;
  }
  text.add(' |');
  if (text.flush()) yield;
}

function* addLongCell(text: BoundedText, cell: string): Steps<void> {
  for (const piece of piecesOf(cell)) {
    text.add(formatText(piece));
    if (text.flush()) yield;
  }
}

function formatCell(cell: Cell): string {
  return isEmpty(cell) ? DASH : formatText(String(cell));
}

function formatText(text: string): string {
  return toLine(text).replaceAll('|', '\\|');
}

function isEmpty(cell: Cell): boolean {
  return cell === null || cell === '' || cell === FIELD_NOT_FOUND;
}

function toLine(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll(/\r\n?|\n/g, '<br>');
}
