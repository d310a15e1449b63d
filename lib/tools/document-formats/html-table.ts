/** `(1,234)` and `$ (1,234.5)`, as accountants write negative numbers. */
const NEGATIVE = /^[$€£¥]?\s*\(\s*[$€£¥]?\s*(\d[\d,]*(?:\.\d+)?)\s*\)$/;
/** Signs that filings put into a cell of their own, before or after the number that they belong to. */
const BEFORE_NUMBER = /^[$€£¥]$/;
const AFTER_NUMBER = /^(?:\)|%|\)\s*%)$/;

/** The cells of an HTML table, while they are read. */
export class HtmlTable {
  readonly position: number;
  readonly #rows: string[][] = [];

  /** @param position where it begins among the tables and paragraphs of its document */
  constructor(position: number) {
    this.position = position;
  }

  startRow(): void {
    this.#rows.push([]);
  }

  startCell(): void {
    if (this.#rows.length === 0) this.startRow();
    this.#rows.at(-1)?.push('');
  }

  /** Adds text to the cell that is open; text outside of cells, such as a caption, is a row of its own. */
  addText(text: string): void {
    const row = this.#rows.at(-1);
    if (row !== undefined && row.length > 0) row[row.length - 1] += text;
    else if (text.trim() !== '') {
      this.#rows.push([text]);
      this.startRow();
    }
  }

  /** A line for each row that is not empty: `a | b`. Columns that are empty in all rows are left out. */
  toText(): string {
    const rows = this.#rows.map((cells) =>
      joinSigns(cells.map((cell) => cell.replaceAll(/\s+/g, ' ').trim())),
    );
    const used = new Set(
      rows.flatMap((cells) => cells.flatMap((cell, column) => (cell === '' ? [] : [column]))),
    );
    return rows
      .filter((cells) => cells.some((cell) => cell !== ''))
      .map((cells) => toLine(cells.filter((_, column) => used.has(column))))
      .join('\n');
  }
}

/** Joins cells, without those at the end that are empty. */
function toLine(cells: readonly string[]): string {
  let end = cells.length;
  while (end > 0 && cells[end - 1] === '') end--;
  return cells.slice(0, end).map(toNumberText).join(' | ');
}

/** Moves `$` to the cell after it, and `)` and `%` to the cell before it; the columns stay where they are. */
function joinSigns(cells: string[]): string[] {
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i] ?? '';
    const [previous, next] = [cells[i - 1] ?? '', cells[i + 1] ?? ''];
    if (BEFORE_NUMBER.test(cell) && /^\(?[\d.]/.test(next)) {
      cells[i + 1] = `${cell}${next}`;
      cells[i] = '';
    } else if (AFTER_NUMBER.test(cell) && /\d$/.test(previous)) {
      cells[i - 1] = `${previous}${cell}`;
      cells[i] = '';
    }
  }
  return cells;
}

function toNumberText(cell: string): string {
  const number = NEGATIVE.exec(cell)?.[1];
  return number === undefined ? cell : `-${number.replaceAll(',', '')}`;
}
