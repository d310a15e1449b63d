import { isObject, type Json } from '../../common/json.js';

/**
 * Returns the names of columns or rows in a document: those that its metadata lists (`columns` or `headers`), else those
 * of a CSV document, else the first cells of the rows of its Markdown tables, each once.
 * Returns undefined for what is no document: no `pages`, and neither a text with a `format`.
 */
export function findColumns(value: Json): string[] | undefined {
  if (!isObject(value)) return undefined;
  const texts = findTexts(value);
  if (texts === undefined) return undefined;
  const metadata = isObject(value['metadata']) ? value['metadata'] : {};
  const listed = [metadata['columns'], metadata['headers'], value['columns']].find(Array.isArray);
  const names: unknown[] = listed ?? texts.flatMap(firstCells);
  return [...new Set(names.filter((name) => typeof name === 'string' && name !== '') as string[])];
}

function findTexts(document: Record<string, unknown>): string[] | undefined {
  const { pages, text, format } = document;
  if (Array.isArray(pages)) {
    return pages.map((page: unknown) =>
      isObject(page) && typeof page['text'] === 'string' ? page['text'] : '',
    );
  }
  return typeof text === 'string' && typeof format === 'string' ? [text] : undefined;
}

/** Returns the first cell of each row of the Markdown tables in a text, unless it is empty, a line or a number. */
function firstCells(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const row = line.trim();
    if (!row.startsWith('|')) return [];
    const end = row.indexOf('|', 1);
    const cell = withoutEmphasis((end < 0 ? row.slice(1) : row.slice(1, end)).trim());
    return cell === '' || /^:?-+:?$/.test(cell) || isNumeric(cell) ? [] : [cell];
  });
}

function withoutEmphasis(cell: string): string {
  return cell
    .replaceAll('**', '')
    .replaceAll('__', '')
    .replaceAll(/^[*_`]|[*_`]$/g, '')
    .trim();
}

function isNumeric(cell: string): boolean {
  return /^[-+(]?[$€£]?[\d,.]+%?\)?$/.test(cell);
}
