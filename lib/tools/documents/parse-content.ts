import { errorMessage } from '../../common/errors.js';
import { decodeText } from '../files/regular-file.js';
import { parseCsv, type CsvReadOptions } from '../document-formats/csv.js';
import { type DocumentContent, type DocumentFormat, documentError } from './document.js';
import { parseHtml } from '../document-formats/html.js';
import { parseJson } from '../document-formats/json.js';
import { parseMarkdown } from '../document-formats/markdown.js';
import { parseDocx, parseXlsx } from '../document-formats/office.js';
import { parsePdf } from '../document-formats/pdf.js';

/** A document to parse. */
export interface ParseRequest {
  readonly format: DocumentFormat;
  readonly bytes: Buffer;
  /** The path or URL, for messages. */
  readonly source: string;
  /** The character set of HTML that the content type names. */
  readonly charset?: string | undefined;
  readonly csv?: CsvReadOptions;
  /** PDF: makes rasters of scanned pages, for a model that reads them. */
  readonly drawScans?: boolean;
}

/**
 * Parses a document in this process. Only CSV pauses.
 *
 * @throws ToolError, not retryable, that says what is wrong with the document
 */
export async function parseContent(request: ParseRequest, signal?: AbortSignal): Promise<DocumentContent> {
  const { format, bytes, source } = request;
  if (format === 'pdf') return await parsePdf(bytes, source, request.drawScans);
  if (format === 'docx') return await parseDocx(bytes, source);
  if (format === 'xlsx') return await parseXlsx(bytes, source);
  if (format === 'html') return await parseHtml(decodeHtml(request), source);
  if (format === 'csv') return await parseCsv(bytes, decodeText(bytes, source), source, signal, request.csv);
  if (format === 'json') return parseJson(decodeText(bytes, source), source);
  return format === 'markdown' ? parseMarkdown(decodeText(bytes, source)) : {};
}

/** From this size on, documents are parsed in processes: what is smaller takes some milliseconds. */
const LARGE_BYTES: Readonly<Record<DocumentFormat, number>> = {
  pdf: 0,
  docx: 0,
  xlsx: 0,
  html: 16 * 1024,
  json: 64 * 1024,
  csv: 64 * 1024,
  markdown: 64 * 1024,
  text: Number.POSITIVE_INFINITY,
  image: Number.POSITIVE_INFINITY,
};

/** Returns true if parsing may hold the event loop for longer than some milliseconds. */
export function isLargeDocument({ format, bytes }: ParseRequest): boolean {
  return bytes.length >= LARGE_BYTES[format];
}

const META_CHARSET = /<meta[^>]{0,200}?charset\s*=\s*(?:["']\s*)?([\w:-]{1,40})/i;

/** Decodes HTML by its content type, its own declaration, or as UTF-8. */
function decodeHtml({ bytes, source, charset }: ParseRequest): string {
  const declared = charset ?? META_CHARSET.exec(bytes.toString('latin1', 0, 4096))?.[1];
  if (declared === undefined || /^utf-?8$/i.test(declared)) return decodeText(bytes, source);
  try {
    return new TextDecoder(declared).decode(bytes);
  } catch (cause) {
    throw documentError(source, `cannot be decoded as "${declared}": ${errorMessage(cause)}`, cause);
  }
}
