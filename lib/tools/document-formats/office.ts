import { errorMessage } from '../../common/errors.js';
import {
  assertPageCount,
  type DocumentCell,
  type DocumentContent,
  documentError,
  textPage,
} from '../documents/document.js';
import { parseHtml } from './html.js';
import { assertSmallArchive } from './zip.js';

/**
 * Reads a DOCX file as HTML is read: a page for each section under a heading, and one for each table. Images and
 * linked files are left out.
 *
 * @throws ToolError, not retryable, when the file is damaged or unpacks to more than the limit
 */
export async function parseDocx(bytes: Buffer, source: string): Promise<DocumentContent> {
  assertSmallArchive(bytes, source);
  const { default: mammoth } = await import('mammoth');
  const convertImage = mammoth.images.imgElement(() => Promise.resolve({ src: '' }));
  let html: string;
  try {
    html = (await mammoth.convertToHtml({ buffer: bytes }, { convertImage })).value;
  } catch (cause) {
    throw documentError(source, `is not a DOCX file that can be read: ${errorMessage(cause)}`, cause);
  }
  return await parseHtml(html, source);
}

/**
 * Reads an XLSX file: a page for each sheet, with its rows as lists of cells and as text. A date is text, `2024-01-31`
 * or with its time; a formula is its result.
 *
 * @throws ToolError, not retryable, when the file is damaged or unpacks to more than the limit
 */
export async function parseXlsx(bytes: Buffer, source: string): Promise<DocumentContent> {
  assertSmallArchive(bytes, source);
  const { default: readWorkbook } = await import('read-excel-file/universal');
  let sheets: Awaited<ReturnType<typeof readWorkbook>>;
  try {
    sheets = await readWorkbook(Uint8Array.from(bytes).buffer);
  } catch (cause) {
    throw documentError(source, `is not an XLSX file that can be read: ${errorMessage(cause)}`, cause);
  }
  assertPageCount(sheets.length, source);
  const pages = sheets.map(({ sheet, data }, index) => {
    const rows = (data as readonly (readonly unknown[])[]).map((row) => row.map(toCell));
    return { ...textPage(index + 1, toText(rows)), sheet_name: sheet, rows };
  });
  return { pages };
}

function toCell(value: unknown): DocumentCell {
  if (value instanceof Date) return formatDate(value);
  return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string' ? value : null;
}

function formatDate(date: Date): string {
  if (Number.isNaN(date.getTime())) return '';
  const text = date.toISOString();
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text;
}

function toText(rows: readonly (readonly DocumentCell[])[]): string {
  return rows.map((row) => row.map((cell) => (cell === null ? '' : String(cell))).join(' | ')).join('\n');
}
