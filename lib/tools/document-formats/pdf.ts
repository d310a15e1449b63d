import { errorMessage, ToolError } from '../../common/errors.js';
import type { JsonObject } from '../../common/json/json.js';
import { SCAN_LIMITS } from '../../common/limits.js';
import {
  assertPageCount,
  type DocumentContent,
  documentError,
  type DocumentPage,
  textPage,
} from '../documents/document.js';
import { drawScan, RasterBudget } from './pdf-scan.js';

type PdfDocument = Awaited<ReturnType<typeof import('unpdf').getDocumentProxy>>;
type PdfPage = Awaited<ReturnType<PdfDocument['getPage']>>;

/** Limits what the library may do, and says which images it leaves out. */
const OPTIONS = {
  verbosity: 0,
  isEvalSupported: false,
  useSystemFonts: false,
  disableFontFace: true,
  isOffscreenCanvasSupported: false,
  isImageDecoderSupported: false,
  maxImageSize: SCAN_LIMITS.imagePixels,
};

/**
 * Reads the text of each page of a PDF. Runs no scripts, and loads nothing that the file refers to.
 *
 * @param drawScans makes rasters of the pages whose content is an image, as their `image_bytes`
 * @throws ToolError, not retryable, when the file is damaged or encrypted, or has too many pages
 */
export async function parsePdf(
  bytes: Uint8Array,
  source: string,
  drawScans = false,
): Promise<DocumentContent> {
  const { getDocumentProxy } = await import('unpdf');
  let pdf: PdfDocument;
  try {
    // A copy: the library takes over what it is given.
    pdf = await getDocumentProxy(Uint8Array.from(bytes), OPTIONS);
  } catch (cause) {
    throw describeFailure(source, cause);
  }
  try {
    if (pdf.numPages === 0) throw documentError(source, 'has no pages: check the file');
    assertPageCount(pdf.numPages, source);
    const title = await readTitle(pdf);
    const pages: DocumentPage[] = [];
    const rasters = new RasterBudget(source);
    for (let number = 1; number <= pdf.numPages; number++)
      pages.push(await readPage(pdf, number, source, drawScans ? rasters : undefined));
    return { pages, ...(title !== '' && { title }) };
  } finally {
    await pdf.destroy();
  }
}

async function readPage(
  pdf: PdfDocument,
  number: number,
  source: string,
  rasters: RasterBudget | undefined,
): Promise<DocumentPage> {
  try {
    const page = await pdf.getPage(number);
    const text = await readText(page);
    const { width, height } = page.getViewport({ scale: 1 });
    const characters = text.replaceAll(/\s+/g, '').length;
    const metadata: JsonObject = { width, height, native_char_count: characters };
    const read = { ...textPage(number, text, metadata), is_scanned: characters === 0 };
    const drawn = rasters === undefined ? read : await drawScan(page, read, characters);
    page.cleanup();
    rasters?.take(drawn);
    return drawn;
  } catch (cause) {
    if (cause instanceof ToolError) throw cause;
    throw documentError(source, `is damaged: page ${number} cannot be read: ${errorMessage(cause)}`, cause);
  }
}

async function readText(page: PdfPage): Promise<string> {
  const { items } = await page.getTextContent();
  let text = '';
  for (const item of items) if ('str' in item) text += item.hasEOL ? `${item.str}\n` : item.str;
  return text.trimEnd();
}

async function readTitle(pdf: PdfDocument): Promise<string> {
  const { info } = await pdf.getMetadata();
  const title: unknown = 'Title' in info ? info.Title : undefined;
  return typeof title === 'string' ? title.trim() : '';
}

function describeFailure(source: string, cause: unknown): Error {
  const name = cause instanceof Error ? cause.name : '';
  if (name === 'PasswordException')
    return documentError(source, 'is encrypted: save it without a password', cause);
  return documentError(source, `is not a PDF that can be read: ${errorMessage(cause)}`, cause);
}
