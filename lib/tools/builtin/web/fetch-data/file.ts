import { extname } from 'node:path';
import { errorMessage, ToolError } from '../../../../common/errors.js';
import { parseCsv } from '../../../document-formats/csv.js';
import { parseJsonWithPauses } from '../../../fetching/content.js';
import { decodeText } from '../../../files/regular-file.js';
import type { ToolContext } from '../../../tool.js';
import { exactObject, TEXT_SCHEMA } from '../../../schemas/output.js';
import { CONNECTION_INPUT } from '../../files/places.js';
import { defineSource } from './source.js';

/** Reads a file as what its name says: JSON, CSV or text (D49). */
export const fileSource = defineSource({
  name: 'file',
  description: 'A file in one of the allowed folders, or an object of a store',
  inputs: {
    path: {
      type: 'string',
      minLength: 1,
      required: true,
      description: 'the file, or an object, such as s3://bucket/key',
    },
    connection: CONNECTION_INPUT,
  },
  openInputs: true,
  output: {
    name: 'data',
    description: 'status: "success", source, path, and data: parsed JSON, the rows of a CSV file, or a text',
    type: 'object',
    schema: exactObject({
      status: { const: 'success' },
      source: { const: 'file' },
      path: TEXT_SCHEMA,
      data: {},
    }),
  },
  async fetch({ path, connection }, context) {
    const { bytes } = await context.files.read(path, connection ?? undefined);
    return { status: 'success', source: 'file', path, data: await parseFile(path, bytes, context) };
  },
});

async function parseFile(path: string, bytes: Buffer, context: ToolContext): Promise<unknown> {
  const text = decodeText(bytes, path);
  const extension = extname(path).toLowerCase();
  if (extension === '.csv') return (await parseCsv(bytes, text, path, context.signal)).rows;
  if (extension !== '.json') return text;
  try {
    return await parseJsonWithPauses(text, context);
  } catch (cause) {
    if (cause instanceof ToolError) throw cause;
    throw ToolError.nonRetryable(`"${path}" is not JSON: ${errorMessage(cause)}`, cause);
  }
}
