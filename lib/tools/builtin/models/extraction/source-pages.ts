import { ToolError } from '../../../../common/errors.js';
import type { Json } from '../../../../common/json/json.js';
import { formatNumber, joinFirst, splitsCharacter } from '../../../../common/text.js';
import { isPage, type PassedPage } from '../../../../definition/text/document-text.js';
import { isDocument, pagesOf } from '../../../documents/document.js';
import { breakBlockTags } from './block-tags.js';

/** A page that a model shall read, and where it is from. */
export interface SourcePage {
  /** The path or the URL of the document; `<inline>` for a text. */
  readonly source: string;
  readonly number: number;
  readonly sheet_name: string | null;
  readonly text: string;
}

const INLINE = '<inline>';

/**
 * Lists the pages of a document, a page list, a page, a text, or of a list of these; any other value is a page with its
 * JSON. Pages without text are left out.
 *
 * @throws ToolError, not retryable, when there is no text at all
 */
export function readSourcePages(value: Json, name: string, log: (message: string) => void): SourcePage[] {
  const pages = toPages(value, name);
  const written = pages.filter(({ text }) => text.trim() !== '');
  const empty = pages.filter(({ text }) => text.trim() === '').map(({ number }) => String(number));
  if (written.length === 0)
    throw ToolError.nonRetryable(
      `"${name}" has no text: if its pages are images, read it with ingest_document and "ocr": true`,
    );
  if (empty.length > 0) log(`left out pages without text: ${joinFirst(empty, MAX_NAMES)}`);
  return written;
}

const MAX_NAMES = 20;

function toPages(value: Json, name: string): SourcePage[] {
  if (value === null) throw ToolError.nonRetryable(`"${name}" is null: give a document or a text`);
  if (typeof value === 'string') return [textOf(value)];
  if (Array.isArray(value) && value.every(isReadable))
    return value.flatMap((member) => toPages(member, name));
  if (isDocument(value)) {
    const named = value['parent_source'] ?? value['source'];
    const source = typeof named === 'string' ? named : INLINE;
    return pagesOf(value).map((page) => toSourcePage(page, source));
  }
  if (isPage(value)) return [toSourcePage(value, INLINE)];
  return [textOf(JSON.stringify(value))];
}

/** Returns true if a member of a list is a document, a page, a text, or a list of them. */
function isReadable(value: Json): boolean {
  if (typeof value === 'string') return true;
  return Array.isArray(value) ? value.every(isReadable) : isDocument(value) || isPage(value);
}

function textOf(text: string): SourcePage {
  return { source: INLINE, number: 1, sheet_name: null, text };
}

function toSourcePage({ number, text, sheet_name: sheet }: PassedPage, source: string): SourcePage {
  return { source, number, sheet_name: typeof sheet === 'string' ? sheet : null, text };
}

/** Writes pages for a prompt, each in a tag with its number, which nothing in it can end. */
export function renderPages(pages: readonly SourcePage[]): string {
  const hasSeveral = new Set(pages.map(({ source }) => source)).size > 1;
  return pages
    .map(({ source, number, sheet_name: sheet, text }) => {
      const from = hasSeveral ? ` source=${JSON.stringify(source)}` : '';
      const of = sheet === null ? '' : ` sheet=${JSON.stringify(sheet)}`;
      return `<page number="${number}"${breakBlockTags(from + of)}>\n${breakBlockTags(text)}\n</page>`;
    })
    .join('\n');
}

/** The numbers of pages in order, each once. */
export function pageNumbers(pages: readonly SourcePage[]): number[] {
  return [...new Set(pages.map(({ number }) => number))].sort((a, b) => a - b);
}

/** The sources of pages, each once. */
export function sourcesOf(pages: readonly SourcePage[]): string[] {
  return [...new Set(pages.map(({ source }) => source))];
}

/**
 * @param name of the pages, for messages: `"document"`, or `page 3 of "document"`
 * @throws ToolError, not retryable, when they have together more text than the model shall be given at once
 */
export function assertLength(
  name: string,
  pages: readonly SourcePage[],
  maxChars: number,
  advice: string,
): void {
  const length = pages.reduce((sum, { text }) => sum + text.length, 0);
  if (length <= maxChars) return;
  throw ToolError.nonRetryable(
    `${name} has ${formatNumber(length)} characters, more than "max_chars" (${formatNumber(maxChars)}): ` +
      `${advice}, or raise "max_chars" for a model that reads as much`,
  );
}

/**
 * Divides pages into parts of at most `maxChars` characters. A longer page is divided between its lines, a longer line between its
 * characters; nothing is cut.
 */
export function splitPages(pages: readonly SourcePage[], maxChars: number): SourcePage[][] {
  const parts: SourcePage[][] = [];
  let part: SourcePage[] = [];
  let length = 0;
  for (const piece of pages.flatMap((page) => [...dividePage(page, maxChars)])) {
    if (part.length > 0 && length + piece.text.length > maxChars) {
      parts.push(part);
      [part, length] = [[], 0];
    }
    part.push(piece);
    length += piece.text.length;
  }
  return part.length === 0 ? parts : [...parts, part];
}

function* dividePage(page: SourcePage, maxChars: number): Generator<SourcePage> {
  const { text } = page;
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + maxChars, text.length);
    const line = end < text.length ? text.lastIndexOf('\n', end - 1) + 1 : end;
    if (line > start) end = line;
    else if (end - start > 1 && splitsCharacter(text, end)) end--;
    yield { ...page, text: text.slice(start, end) };
    start = end;
  }
}
