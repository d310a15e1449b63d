import { basename, extname } from 'node:path';
import { ToolError } from '../../common/errors.js';
import { DOCUMENT_FORMATS, type DocumentFormat } from './document.js';

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
