import type { ToolError } from '../../common/errors.js';
import { SCAN_LIMITS } from '../../common/limits.js';
import { formatMebibytes } from '../../common/text.js';
import { documentError, type DocumentPage } from '../documents/document.js';
import { coverage, paintRaster, type PageView } from './page-raster.js';
import { collectImages, type PdfPage, toMatrix } from './pdf-images.js';
import { encodePng } from './png.js';

/** A page with fewer characters may be a scan with a stamp, such as a page number, when images cover so much of it. */
const SPARSE_CHARACTERS = 80;
const SCAN_COVERAGE = 0.25;

/**
 * Draws a page whose content is an image: `image_bytes` is then a PNG of its images. `metadata.unread` says what a page has
 * besides text that is not in the raster. A page without text that draws nothing is not scanned, but blank.
 *
 * @param read the page as its text was read
 * @param characters of its text, without blanks
 */
export async function drawScan(page: PdfPage, read: DocumentPage, characters: number): Promise<DocumentPage> {
  if (characters >= SPARSE_CHARACTERS) return read;
  const { getResolvedPDFJS } = await import('unpdf');
  const { images, ...painting } = await collectImages(page, await getResolvedPDFJS());
  const { width, height, transform } = page.getViewport({ scale: 1 });
  const view: PageView = { width, height, matrix: toMatrix(transform) };
  const isScan = images.length > 0 && (characters === 0 || coverage(images, view) >= SCAN_COVERAGE);
  const isEmpty = images.length === 0 && characters === 0;
  // The library leaves out an image with too many pixels without a word.
  const lacksImage =
    isEmpty && !painting.drawsShapes && painting.largestUnit >= SCAN_COVERAGE * width * height;
  let unread: string | undefined;
  if (painting.unreadable > 0 || lacksImage) unread = 'an image cannot be decoded, or is too large';
  else if (isEmpty && painting.drawsShapes) unread = 'lines and shapes are drawn, but no image';
  return {
    ...read,
    is_scanned: characters === 0 && (isScan || unread !== undefined),
    metadata: unread === undefined ? read.metadata : { ...read.metadata, unread },
    ...(isScan && { image_bytes: encodePng(paintRaster(images, view)), image_mime: 'image/png' }),
  };
}

/** Counts the rasters of the pages of a document, and their bytes, against the limits. */
export class RasterBudget {
  readonly #source: string;
  #pages = 0;
  #bytes = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** @throws ToolError, not retryable, when these are too many rasters or bytes */
  take({ image_bytes: bytes }: DocumentPage): void {
    if (bytes === null) return;
    this.#pages++;
    this.#bytes += bytes.length;
    if (this.#pages > SCAN_LIMITS.pages) throw this.#exceeded(`more than ${SCAN_LIMITS.pages} scanned pages`);
    const limit = formatMebibytes(SCAN_LIMITS.bytes);
    if (this.#bytes > SCAN_LIMITS.bytes) throw this.#exceeded(`scanned pages of more than ${limit}`);
  }

  #exceeded(what: string): ToolError {
    return documentError(this.#source, `has ${what}, the limit for reading them with a model: split it`);
  }
}
