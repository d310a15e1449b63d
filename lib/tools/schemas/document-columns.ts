import { isObject, type Json } from '../../common/json/json.js';
import { MAX_SCHEMA_FIELDS } from '../../common/limits.js';
import type { Steps } from '../../common/scheduling/steps.js';

/** No name is longer; a longer cell is prose. */
const MAX_NAME_LENGTH = 1000;
/** So many lines, or names that are listed, are looked at in a step. */
const STEP_SIZE = 500;

/**
 * Returns the names of columns or rows in a document: those that its metadata lists (`columns` or `headers`), else those
 * of a CSV document, else the first cells of the rows of its Markdown tables, each once. Stops after one more than a
 * schema may have.
 *
 * Returns undefined for what is no document: no `pages`, and neither a text with a `format`.
 */
export function* findColumns(value: Json): Steps<string[] | undefined> {
  if (!isObject(value)) return undefined;
  const texts = findTexts(value);
  if (texts === undefined) return undefined;
  const metadata = isObject(value['metadata']) ? value['metadata'] : {};
  const listed = [metadata['columns'], metadata['headers'], value['columns']].find(Array.isArray);
  const found = new Set<string>();
  let looked = 0;
  for (const name of listed ?? firstCells(texts)) {
    if (typeof name === 'string' && name !== '') found.add(name);
    if (found.size > MAX_SCHEMA_FIELDS) break;
    if (++looked % STEP_SIZE === 0) yield;
  }
  return [...found];
}

/** The texts of the pages, or the text of a document without pages. */
function findTexts(document: Record<string, unknown>): Iterable<unknown> | undefined {
  const { pages, text, format } = document;
  if (Array.isArray(pages)) return textsOf(pages);
  return typeof text === 'string' && typeof format === 'string' ? [text] : undefined;
}

function* textsOf(pages: readonly unknown[]): Generator {
  for (const page of pages) yield isObject(page) ? page['text'] : undefined;
}

/** Finds the first cell of each row of the Markdown tables in texts; undefined for every other line. */
function* firstCells(texts: Iterable<unknown>): Generator<string | undefined> {
  for (const text of texts) {
    if (typeof text !== 'string') yield undefined;
    else {
      for (let at = 0; at <= text.length; ) {
        const lineEnd = text.indexOf('\n', at);
        const end = lineEnd === -1 ? text.length : lineEnd;
        yield firstCell(text.slice(at, Math.min(end, at + MAX_NAME_LENGTH)));
        at = end + 1;
      }
    }
  }
}

/** Returns the first cell of a row, unless it is empty, a line or a number. */
function firstCell(line: string): string | undefined {
  const row = line.trim();
  if (!row.startsWith('|')) return undefined;
  const end = row.indexOf('|', 1);
  if (end < 0 && line.length === MAX_NAME_LENGTH) return undefined;
  const cell = withoutEmphasis((end < 0 ? row.slice(1) : row.slice(1, end)).trim());
  return cell === '' || /^:?-+:?$/.test(cell) || NUMERIC.test(cell) ? undefined : cell;
}

function withoutEmphasis(cell: string): string {
  return cell
    .replaceAll('**', '')
    .replaceAll('__', '')
    .replaceAll(/^[*_`]|[*_`]$/g, '')
    .trim();
}

const NUMERIC = /^[-+(]?[$€£]?[\d,.]+%?\)?$/;
