import { basename, extname } from 'node:path';
import { ToolError } from '../../common/errors.js';
import { DOCUMENT_FORMATS, type DocumentFormat, documentError } from './document.js';
import { listArchive } from '../document-formats/zip.js';

const OFFICE = 'application/vnd.openxmlformats-officedocument';

/** The names of the formats for messages, the endings of files, and content types. Files of other endings are texts. */
const FORMATS: Readonly<
  Record<DocumentFormat, { readonly name: string; readonly endings: string; readonly types: string }>
> = {
  text: { name: 'text', endings: '.txt', types: 'text/plain' },
  markdown: { name: 'Markdown', endings: '.md .markdown', types: 'text/markdown' },
  csv: { name: 'CSV', endings: '.csv .tsv', types: 'text/csv text/tab-separated-values' },
  json: { name: 'JSON', endings: '.json', types: 'application/json' },
  html: { name: 'HTML', endings: '.html .htm .xhtml', types: 'text/html application/xhtml+xml' },
  pdf: { name: 'a PDF', endings: '.pdf', types: 'application/pdf' },
  docx: { name: 'a DOCX file', endings: '.docx', types: `${OFFICE}.wordprocessingml.document` },
  xlsx: { name: 'an XLSX file', endings: '.xlsx', types: `${OFFICE}.spreadsheetml.sheet` },
  image: {
    name: 'an image (PNG, JPEG, GIF or WebP)',
    endings: '.png .jpg .jpeg .gif .webp',
    types: 'image/png image/jpeg image/gif image/webp',
  },
};

/** Finds the format with an ending, or a content type; both are in small letters. */
function findFormat(by: 'endings' | 'types', text: string): DocumentFormat | undefined {
  return DOCUMENT_FORMATS.find((format) => FORMATS[format][by].split(' ').includes(text));
}

/** The kind of a file, as its first bytes say. */
interface Kind {
  /** undefined: nothing that can be read. */
  readonly format?: DocumentFormat;
  /** As the end of a sentence: `a ZIP archive`. */
  readonly name: string;
  /** The media type of an image. */
  readonly mime?: string;
}

export interface NamedBytes {
  /** A path or a URL, as the caller wrote it. */
  readonly source: string;
  /** The URL to which the last redirect led; null for a file. Its ending counts more than that of `source`. */
  readonly sourceUrl: string | null;
  readonly bytes: Buffer;
  /** Of an answer over HTTP. */
  readonly contentType?: string | undefined;
}

/**
 * Finds the format of a document: by its content where that is unmistakable, so that a wrong ending does no harm, and
 * else by the content type, then by the ending. Bytes that are none of these are text, or refused.
 *
 * @throws ToolError, not retryable, that says what the file is instead
 */
export function detectFormat(document: NamedBytes): DocumentFormat {
  const { source, bytes } = document;
  const kind = findKind(bytes);
  if (kind !== undefined) return kind.format ?? refuse(source, kind);
  const expected = expectFormat(document);
  if (expected === undefined || expected === 'text') {
    if (isHtml(bytes)) return 'html';
    if (expected === undefined) assertText(document);
    return 'text';
  }
  if (!isBinary(expected)) return expected;
  if (isHtml(bytes)) return 'html';
  if (bytes.length === 0) throw documentError(source, `is not ${FORMATS[expected].name}: it is empty`);
  throw documentError(source, `is not ${FORMATS[expected].name}, whatever its name says: check the file`);
}

/** @throws ToolError, not retryable, when the content contradicts the format that the caller has named */
export function assertFormat(format: DocumentFormat, { source, bytes }: NamedBytes): void {
  const kind = findKind(bytes);
  if (kind === undefined && !isBinary(format)) return;
  if (kind?.format === format) return;
  const found = describeFound(kind, bytes);
  throw documentError(source, `is not ${FORMATS[format].name}: ${found}; "format" may be "auto"`);
}

function describeFound(kind: Kind | undefined, bytes: Buffer): string {
  if (kind !== undefined) return `it is ${kind.name}`;
  if (bytes.length === 0) return 'it is empty';
  return 'check the file';
}

/** The media type of an image. */
export function imageMime(bytes: Buffer): string {
  return findKind(bytes)?.mime ?? 'application/octet-stream';
}

/** Returns true if a document is separated by tabs, as its ending or its content type says. */
export function isTabSeparated(document: NamedBytes): boolean {
  const { contentType } = document;
  return findExtension(document) === '.tsv' || contentType?.startsWith('text/tab-separated-values') === true;
}

function isBinary(format: DocumentFormat): boolean {
  return format === 'pdf' || format === 'docx' || format === 'xlsx' || format === 'image';
}

function expectFormat(document: NamedBytes): DocumentFormat | undefined {
  const { contentType } = document;
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  const byType = findFormat('types', type);
  const byEnding = findFormat('endings', findExtension(document) ?? '');
  // Servers send Markdown and CSV as plain text.
  return byType === undefined || byType === 'text' ? (byEnding ?? byType) : byType;
}

/** The ending that says what the document is; undefined when none does. */
function findExtension({ source, sourceUrl }: NamedBytes): string | undefined {
  return [sourceUrl ?? source, source].map(extensionOf).find((ending) => findFormat('endings', ending));
}

/** The ending of a path, or of the path in a URL, in small letters. */
function extensionOf(source: string): string {
  const path = URL.canParse(source) ? new URL(source).pathname : source;
  return extname(path).toLowerCase();
}

const OLE = Buffer.from([0xd0, 0xcf, 0x11, 0xe0]);
const PDF_HEAD_LENGTH = 1024;

function findKind(bytes: Buffer): Kind | undefined {
  const head = bytes.toString('latin1', 0, 16);
  if (head.startsWith('\x89PNG\r\n')) return { format: 'image', name: 'a PNG image', mime: 'image/png' };
  if (head.startsWith('\xff\xd8\xff')) return { format: 'image', name: 'a JPEG image', mime: 'image/jpeg' };
  if (/^GIF8[79]a/.test(head)) return { format: 'image', name: 'a GIF image', mime: 'image/gif' };
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP')
    return { format: 'image', name: 'a WebP image', mime: 'image/webp' };
  if (bytes.subarray(0, PDF_HEAD_LENGTH).includes('%PDF-')) return { format: 'pdf', name: 'a PDF' };
  if (head.startsWith('PK\x03\x04') || head.startsWith('PK\x05\x06')) return findArchiveKind(bytes);
  if (bytes.subarray(0, 4).equals(OLE))
    return { name: 'an Office file that is encrypted, or of the format before 2007' };
  if (head.startsWith('\x1f\x8b')) return { name: 'a gzip archive' };
  return undefined;
}

function findArchiveKind(bytes: Buffer): Kind {
  const names = listArchive(bytes);
  if (names.includes('word/document.xml')) return { format: 'docx', name: FORMATS.docx.name };
  if (names.includes('xl/workbook.xml')) return { format: 'xlsx', name: FORMATS.xlsx.name };
  return names.length === 0 ? { name: 'a ZIP archive that is damaged' } : { name: 'a ZIP archive' };
}

const HTML_HEAD =
  /^(?:\ufeff|\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--[^>]{0,500}-->\s*)*<(?:!doctype html|html)\b/i;

function isHtml(bytes: Buffer): boolean {
  return HTML_HEAD.test(bytes.toString('latin1', 0, 1024));
}

function assertText({ source, bytes }: NamedBytes): void {
  if (!bytes.subarray(0, 8192).includes(0)) return;
  const formats = DOCUMENT_FORMATS.join(', ');
  throw ToolError.nonRetryable(
    `"${basename(source)}" is binary, and nothing that can be read: documents may be of the formats ${formats}`,
  );
}

function refuse(source: string, { name }: Kind): never {
  throw documentError(source, `is ${name}, which cannot be read: save it in another format`);
}
