import { basename, extname } from 'node:path';
import { messageOf, ToolError } from '../../common/errors.js';
import type { Json } from '../../common/json.js';
import { DOCUMENT_FORMATS, type DocumentContent, type DocumentFormat } from './document.js';

const FORMATS: Readonly<Record<string, DocumentFormat>> = {
  '.txt': 'text',
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.csv': 'csv',
  '.tsv': 'csv',
  '.json': 'json',
};

/**
 * The format that a file's name speaks of.
 *
 * @throws ToolError, not retryable, that lists what is supported
 */
export function formatOf(path: string): DocumentFormat {
  const extension = extname(path).toLowerCase();
  const format = Object.hasOwn(FORMATS, extension) ? FORMATS[extension] : undefined;
  if (format !== undefined) return format;
  const supported = Object.keys(FORMATS).join(', ');
  const formats = DOCUMENT_FORMATS.join(', ');
  throw new ToolError(
    `"${basename(path)}" has no ending that is known here (${supported}): set "format" to one of ${formats}`,
    { retryable: false },
  );
}

/**
 * Reads bytes as UTF-8, with or without a byte order mark.
 *
 * @throws ToolError, not retryable, when they are something else
 */
export function decodeText(bytes: Buffer, source: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const what = isUtf16(bytes) ? 'it looks like UTF-16' : 'it has bytes that mean nothing in UTF-8';
    throw new ToolError(`"${source}" is no UTF-8 text: ${what}. Save it as UTF-8 first`, {
      retryable: false,
      cause: error,
    });
  }
}

function isUtf16([first, second]: Buffer): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

/**
 * Reads a JSON document.
 *
 * @throws ToolError, not retryable, when it is none
 */
export function readJson(text: string, source: string): DocumentContent {
  try {
    const data: Json = JSON.parse(text);
    return { data };
  } catch (error) {
    const what = text.trim() === '' ? 'it is empty' : messageOf(error);
    throw new ToolError(`"${source}" is no JSON: ${what}`, { retryable: false, cause: error });
  }
}
