import { basename } from 'node:path';
import { parseCsv } from '../documents/csv.js';
import {
  DOCUMENT_FORMATS,
  type DocumentContent,
  type DocumentFormat,
  detectFormat,
  parseJson,
} from '../documents/document.js';
import { parseMarkdown } from '../documents/markdown.js';
import { decodeText } from '../files/regular-file.js';
import { defineTool } from '../tool.js';

/** Reads and parses a document in one of the allowed folders (D49, D51). */
export const ingestDocument = defineTool({
  name: 'ingest_document',
  description: 'Reads a text, Markdown, CSV or JSON file and returns its text and parsed content',
  inputs: {
    path: {
      type: 'string',
      minLength: 1,
      required: true,
      description: 'the file, in one of the allowed folders',
    },
    format: {
      type: 'string',
      enum: ['auto', ...DOCUMENT_FORMATS],
      default: 'auto',
      description: 'the format of the file; auto: by the extension of its name',
    },
  },
  output: {
    name: 'document',
    description:
      'source, format, title, text, bytes; CSV: columns and rows (objects by column); JSON: data; ' +
      'Markdown: sections (level, heading, text)',
    type: 'object',
  },
  async run({ path, format }, context) {
    const detected = format === 'auto' ? detectFormat(path) : format;
    const { bytes } = await context.files.read(path);
    const text = decodeText(bytes, path);
    const content = await parseContent(detected, bytes, text, path, context.signal);
    return { source: path, format: detected, title: basename(path), text, bytes: bytes.length, ...content };
  },
});

async function parseContent(
  format: DocumentFormat,
  bytes: Buffer,
  text: string,
  source: string,
  signal: AbortSignal,
): Promise<DocumentContent> {
  if (format === 'markdown') return parseMarkdown(text);
  if (format === 'csv') return await parseCsv(bytes, text, source, signal);
  return format === 'json' ? parseJson(text, source) : {};
}
