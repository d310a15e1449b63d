import { isObject, type Json, type JsonObject } from '../../common/json/json.js';
import { MAX_OUTPUT_LENGTH } from '../../common/limits.js';

/** Stands between the texts of two pages. */
const SEPARATOR = '\n\n';

/**
 * Returns the text of a document, a page list or a page, as the tools for documents return them: that of its pages, with
 * an empty line between them (D64). Returns undefined for any other value, at the first part that is none of a document,
 * and TOO_LONG as soon as the text is longer than a text may be.
 */
export function documentText(value: Json): string | typeof TOO_LONG | undefined {
  if (!isObject(value)) return undefined;
  if (isPage(value) && typeof value['is_scanned'] === 'boolean') return value['text'];
  const { pages } = value;
  if (!Array.isArray(pages) || !isDocument(value)) return undefined;
  const texts: string[] = [];
  let length = 0;
  for (const page of pages) {
    if (!isPage(page)) return undefined;
    length += page['text'].length + SEPARATOR.length;
    if (length > MAX_OUTPUT_LENGTH) return TOO_LONG;
    texts.push(page['text']);
  }
  return texts.join(SEPARATOR);
}

export const TOO_LONG = Symbol('too long');

/** A page as a task passes it on. */
export type PassedPage = JsonObject & { readonly number: number; readonly text: string };

/** A document has a source and a format, a page list those of its document. */
function isDocument(value: JsonObject): boolean {
  return (
    (typeof value['source'] === 'string' && typeof value['format'] === 'string') ||
    (typeof value['parent_source'] === 'string' && typeof value['parent_format'] === 'string')
  );
}

export function isPage(value: unknown): value is PassedPage {
  return isObject(value) && typeof value['number'] === 'number' && typeof value['text'] === 'string';
}
