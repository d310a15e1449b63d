import { ToolError } from '../../common/errors.js';
import { isObject, type Json, type JsonObject, toList } from '../../common/json/json.js';
import { DOCUMENT_LIMITS } from '../../common/limits.js';
import { formatNumber } from '../../common/text.js';
import { isPage, type PassedPage } from '../../definition/text/document-text.js';

/** The formats that can be read, in the order in which messages list them. */
export const DOCUMENT_FORMATS = [
  'text',
  'markdown',
  'csv',
  'json',
  'html',
  'pdf',
  'docx',
  'xlsx',
  'image',
] as const;
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

/** A section of a Markdown text: a heading and the text below it, up to the next heading of any level. */
export interface Section {
  /** 1 to 6; 0 for the text before the first heading. */
  readonly level: number;
  readonly heading: string;
  readonly text: string;
}

/** A page of a PDF, a sheet, a section or a table of HTML, an image, or all of a text. */
export interface DocumentPage {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** True for a page without text of its own: its content is an image, if any. */
  readonly is_scanned: boolean;
  readonly sheet_name: string | null;
  /** HTML: type, heading, note_label; PDF: width and height in points, native_char_count. */
  readonly metadata: JsonObject;
  readonly image_bytes: Uint8Array | null;
  readonly image_mime: string | null;
  /** A sheet: its rows, each a list of cells. */
  readonly rows?: readonly (readonly Json[])[];
}

export type DocumentCell = string | number | boolean | null;

/** The content that the parser of a format finds in a document. */
export interface DocumentContent {
  /** The title that the document itself contains. */
  readonly title?: string;
  /** Default: one page with the whole text. */
  readonly pages?: readonly DocumentPage[];
  /** CSV: one object per row, with the columns as keys. */
  readonly rows?: readonly Record<string, DocumentCell>[];
  /** CSV: the header. */
  readonly columns?: readonly string[];
  /** JSON: the value. */
  readonly data?: Json;
  /** Markdown: the sections in order. */
  readonly sections?: readonly Section[];
}

/** Creates a page of text. Its type is inferred, and with it that it is a JsonObject. */
export function textPage(number: number, text: string, metadata: JsonObject = {}) {
  return {
    number,
    text,
    is_scanned: false,
    sheet_name: null,
    metadata,
    image_bytes: null,
    image_mime: null,
  } satisfies DocumentPage;
}

/** Returns true if a value is a document that was read before, or pages that were selected from one. */
export function isDocument(value: unknown): value is JsonObject {
  if (!isObject(value) || !Array.isArray(value['pages'])) return false;
  return typeof value['source'] === 'string' || typeof value['parent_source'] === 'string';
}

/** The pages of a document or a page list that look like pages. */
export function pagesOf(document: JsonObject): PassedPage[] {
  return toList(document['pages']).filter(isPage);
}

/** Creates the error of a document that cannot be read; not retryable. */
export function documentError(source: string, reason: string, cause?: unknown): ToolError {
  return ToolError.nonRetryable(`"${source}" ${reason}`, cause);
}

/** @throws ToolError, not retryable, when a document has more pages than the limit */
export function assertPageCount(count: number, source: string): void {
  const { pages } = DOCUMENT_LIMITS;
  if (count <= pages) return;
  throw documentError(
    source,
    `has ${formatNumber(count)} pages, more than the limit of ${formatNumber(pages)}: split it`,
  );
}
