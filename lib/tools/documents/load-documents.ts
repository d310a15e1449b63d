import { basename } from 'node:path';
import { errorMessage, ToolError } from '../../common/errors.js';
import { describeKind, isObject, type Json, type JsonObject, toList } from '../../common/json/json.js';
import { DOCUMENT_LIMITS } from '../../common/limits.js';
import { formatMebibytes, formatNumber } from '../../common/text.js';
import { decodeText } from '../files/regular-file.js';
import type { ToolContext } from '../tool.js';
import type { CsvReadOptions } from '../document-formats/csv.js';
import { assertFormat, detectFormat, imageMime, isTabSeparated, type NamedBytes } from './detect-format.js';
import {
  type DocumentContent,
  type DocumentFormat,
  documentError,
  type DocumentPage,
  isDocument,
  textPage,
} from './document.js';
import type { ParseRequest } from './parse-content.js';
import type { ConcurrencyLimiter } from '../../common/scheduling/concurrency-limiter.js';

/** How the documents of one task are read. */
export interface LoadDocumentOptions {
  readonly format: 'auto' | DocumentFormat;
  readonly csv: CsvReadOptions;
  readonly drawScans: boolean;
  /** Of objects of stores; undefined finds it by their buckets. */
  readonly connection: string | undefined;
  readonly parse: (request: ParseRequest, context: ToolContext) => Promise<DocumentContent>;
  readonly limiter: ConcurrencyLimiter;
}

interface DocumentSource {
  readonly from: string | JsonObject;
  /** Leave this filing out when it cannot be read, because others of the same result can. */
  readonly isOptional: boolean;
}

/**
 * Reads what a caller names: paths and URLs, results of `fetch_data`, and documents that were read before, which stay
 * as they are.
 *
 * @throws ToolError
 */
export async function loadDocuments(
  named: Json,
  options: LoadDocumentOptions,
  context: ToolContext,
): Promise<Record<string, unknown>[]> {
  const sources = listSources(named);
  if (sources.length > DOCUMENT_LIMITS.documents)
    throw ToolError.nonRetryable(
      `"path" names ${formatNumber(sources.length)} documents, more than the limit of ` +
        `${formatNumber(DOCUMENT_LIMITS.documents)}: use parallel_over`,
    );
  const loaded: Record<string, unknown>[] = [];
  let failure: unknown;
  let length = 0;
  let imageBytes = 0;
  for (const { from, isOptional } of sources) {
    if (typeof from !== 'string') {
      loaded.push(from);
      continue;
    }
    let document: LoadedDocument;
    try {
      document = await options.limiter.run(context, () => loadOne(from, options, context));
    } catch (error) {
      if (!isOptional || context.signal.aborted) throw error;
      failure ??= error;
      context.log(`left out a filing: ${errorMessage(error)}`);
      continue;
    }
    length += document.text.length;
    if (length > DOCUMENT_LIMITS.textLength) throw tooMuch(DOCUMENT_LIMITS.textLength, 'text');
    for (const { image_bytes: image } of document.pages) {
      imageBytes += image?.length ?? 0;
      // The images of scanned pages may be many times as long as their file.
      if (options.drawScans && image !== null) context.holdMemory(image.length);
    }
    if (imageBytes > DOCUMENT_LIMITS.imageBytes) throw tooMuch(DOCUMENT_LIMITS.imageBytes, 'images');
    loaded.push(document);
  }
  if (loaded.length > 0) return loaded;
  throw failure ?? ToolError.nonRetryable('"path" names no document: give a path, a URL, or a list of them');
}

function tooMuch(limit: number, what: 'text' | 'images'): ToolError {
  return ToolError.nonRetryable(
    `the documents have together more than ${formatMebibytes(limit)} of ${what}: use parallel_over`,
  );
}

function listSources(named: Json): DocumentSource[] {
  if (!Array.isArray(named)) return toSources(named, '"path"');
  return named.flatMap((member, position) => toSources(member, `"path"[${position}]`));
}

function toSources(named: Json, place: string): DocumentSource[] {
  if (typeof named === 'string') return [{ from: named, isOptional: false }];
  if (isDocument(named)) return [{ from: named, isOptional: false }];
  if (isObject(named)) {
    const urls = toList(named['results'])
      .flatMap((result) => (isObject(result) ? toList(result['filings']) : []))
      .flatMap((filing) => (isObject(filing) && typeof filing['url'] === 'string' ? [filing['url']] : []));
    if (urls.length > 0) return urls.map((from) => ({ from, isOptional: urls.length > 1 }));
    if (typeof named['url'] === 'string') return [{ from: named['url'], isOptional: false }];
    throw ToolError.nonRetryable(
      `${place} is an object without "url", and without filings in "results": give a path, a URL, a document, or a ` +
        'result of fetch_data that has some',
    );
  }
  throw ToolError.nonRetryable(`${place} is ${describeKind(named)}: give a path, a URL or a document`);
}

/** A document as the task gives it, with all that its format adds. */
type LoadedDocument = Record<string, unknown> & {
  readonly text: string;
  readonly pages: readonly DocumentPage[];
};

async function loadOne(
  from: string,
  { format, csv, drawScans, connection, parse }: LoadDocumentOptions,
  context: ToolContext,
): Promise<LoadedDocument> {
  const read = /^https?:\/\//i.test(from)
    ? await fetchBytes(from, context)
    : { source: from, bytes: (await context.files.read(from, connection)).bytes, sourceUrl: null };
  const { source, bytes, contentType } = read;
  if (format !== 'auto') assertFormat(format, read);
  const detected = format === 'auto' ? detectFormat(read) : format;
  const content = await parse(
    {
      format: detected,
      bytes,
      source,
      charset: /charset="?([\w:-]{1,40})/i.exec(contentType ?? '')?.[1],
      csv: isTabSeparated(read) ? { delimiter: '\t', ...csv } : csv,
      drawScans,
    },
    context,
  );
  return describeDocument(read, detected, content);
}

async function fetchBytes(url: string, context: ToolContext): Promise<NamedBytes> {
  const answer = await context.fetch(url);
  if (answer.status < 200 || answer.status > 299) {
    const isTemporary = answer.status === 429 || answer.status >= 500;
    throw new ToolError(`cannot read "${url}": the server answered ${answer.status}`, {
      retryable: isTemporary,
    });
  }
  return {
    source: url,
    bytes: answer.bytes,
    sourceUrl: answer.url,
    contentType: answer.headers['content-type'],
  };
}

function describeDocument(
  { source, bytes, sourceUrl }: NamedBytes,
  format: DocumentFormat,
  { title, pages: parsed, ...content }: DocumentContent,
): LoadedDocument {
  const filename = sourceUrl === null ? basename(source) : nameOf(new URL(sourceUrl));
  const own = format === 'image' || isPaged(format) ? undefined : decodeWithoutNul(bytes, source);
  const pages = parsed ?? (format === 'image' ? [imagePage(bytes)] : [textPage(1, own ?? '')]);
  const text = own ?? pages.map((page) => page.text).join('\n\n');
  if (text.length > DOCUMENT_LIMITS.textLength) {
    const limit = formatMebibytes(DOCUMENT_LIMITS.textLength);
    throw documentError(source, `has more text than a document may have, which is ${limit}: split it`);
  }
  return {
    source,
    format,
    title: title ?? filename,
    filename,
    text,
    bytes: bytes.length,
    pages,
    page_count: pages.length,
    is_scanned: pages.length > 0 && pages.every((page) => page.is_scanned),
    source_url: sourceUrl,
    metadata: {},
    ...content,
  };
}

/** The last part of the path, decoded; the host when the path has none. */
function nameOf({ pathname, host }: URL): string {
  const name = basename(decodePart(basename(pathname)));
  return name === '' ? host : name;
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A percent sign that encodes nothing.
    return part;
  }
}

/** Returns true if the text of the document is that of its pages, and not that of the file. */
function isPaged(format: DocumentFormat): boolean {
  return format === 'pdf' || format === 'docx' || format === 'xlsx' || format === 'html';
}

function decodeWithoutNul(bytes: Buffer, source: string): string {
  const text = decodeText(bytes, source);
  if (!text.includes('\0')) return text;
  throw documentError(source, 'is not text: it holds NUL characters, as binary files do');
}

function imagePage(bytes: Buffer): DocumentPage {
  return { ...textPage(1, ''), is_scanned: true, image_bytes: bytes, image_mime: imageMime(bytes) };
}
