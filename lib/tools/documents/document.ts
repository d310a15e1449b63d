import { basename, extname } from 'node:path';
import { errorMessage, ToolError } from '../../common/errors.js';
import type { Json } from '../../common/json.js';

export const DOCUMENT_FORMATS = ['text', 'markdown', 'csv', 'json'] as const;
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

/** A section of a Markdown text: a heading and the text below it, up to the next heading of any level. */
export interface Section {
  /** 1 to 6; 0 for the text before the first heading. */
  readonly level: number;
  readonly heading: string;
  readonly text: string;
}

/** The parsed content of a document. */
export interface DocumentContent {
  /** The title that the document itself contains. */
  readonly title?: string;
  /** CSV: one object per row, with the columns as keys. */
  readonly rows?: readonly Record<string, string | number>[];
  /** CSV: the header. */
  readonly columns?: readonly string[];
  /** JSON: the value. */
  readonly data?: Json;
  /** Markdown: the sections in order. */
  readonly sections?: readonly Section[];
}

const FORMATS: Readonly<Record<string, DocumentFormat>> = {
  '.txt': 'text',
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.csv': 'csv',
  '.tsv': 'csv',
  '.json': 'json',
};

/**
 * Detects the format of a file by the extension of its name.
 *
 * @throws ToolError, not retryable, that lists the supported extensions
 */
export function detectFormat(path: string): DocumentFormat {
  const extension = extname(path).toLowerCase();
  const format = Object.hasOwn(FORMATS, extension) ? FORMATS[extension] : undefined;
  if (format !== undefined) return format;
  const supported = Object.keys(FORMATS).join(', ');
  const formats = DOCUMENT_FORMATS.join(', ');
  throw ToolError.nonRetryable(
    `"${basename(path)}" has none of the supported extensions (${supported}): set "format" to one of ${formats}`,
  );
}

/**
 * Parses a JSON document.
 *
 * @throws ToolError, not retryable, when the text is not JSON
 */
export function parseJson(text: string, source: string): DocumentContent {
  try {
    const data: Json = JSON.parse(text);
    return { data };
  } catch (cause) {
    const reason = text.trim() === '' ? 'it is empty' : errorMessage(cause);
    throw ToolError.nonRetryable(`"${source}" is not JSON: ${reason}`, cause);
  }
}
