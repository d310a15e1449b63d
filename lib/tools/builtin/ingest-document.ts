import { basename } from 'node:path';
import { readCsv } from '../documents/csv.js';
import { DOCUMENT_FORMATS, type DocumentContent, type DocumentFormat } from '../documents/document.js';
import { decodeText, formatOf, readJson } from '../documents/format.js';
import { readMarkdown } from '../documents/markdown.js';
import { defineTool } from '../tool.js';

/** Reads a document from the allowed folders (D49, D51). */
export const ingestDocument = defineTool({
  name: 'ingest_document',
  description: 'Reads a text, Markdown, CSV or JSON file and gives its text and what is in it',
  inputs: {
    path: {
      type: 'string',
      minLength: 1,
      required: true,
      description: 'the file, in one of the folders that may be read',
    },
    format: {
      type: 'string',
      enum: ['auto', ...DOCUMENT_FORMATS],
      default: 'auto',
      description: 'what the file is; auto: what its name says',
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
    const known = format === 'auto' ? formatOf(path) : format;
    const { bytes } = await context.files.read(path);
    const text = decodeText(bytes, path);
    const content = await readContent(known, bytes, text, path, context.signal);
    return { source: path, format: known, title: basename(path), text, bytes: bytes.length, ...content };
  },
});

async function readContent(
  format: DocumentFormat,
  bytes: Buffer,
  text: string,
  source: string,
  signal: AbortSignal,
): Promise<DocumentContent> {
  if (format === 'markdown') return readMarkdown(text);
  if (format === 'csv') return await readCsv(bytes, text, source, signal);
  return format === 'json' ? readJson(text, source) : {};
}
