import { errorMessage, ToolError } from '../../../common/errors.js';
import type { Json } from '../../../common/json/json.js';
import { MAX_FILE_BYTES } from '../../../common/limits.js';
import { formatMebibytes } from '../../../common/text.js';
import { parseJsonWithPauses } from '../../fetching/content.js';
import { decodeText } from '../../files/regular-file.js';
import type { ValueShape } from '../../../definition/shapes/shape.js';
import { exactObject, TEXT_SCHEMA } from '../../schemas/output.js';
import { defineTool, type ToolContext } from '../../tool.js';
import {
  CONNECTION_INPUT,
  guessMediaType,
  parsePlace,
  type FilePlace,
  SOURCE_DESCRIPTION,
} from './places.js';
import { nameOfPlace, openSource, writeTarget } from './transfer.js';

const OUTPUTS = ['text', 'json', 'lines', 'base64', 'file'] as const;

const OUTPUT_SHAPES: ReadonlyMap<string, ValueShape> = new Map<string, ValueShape>([
  ['text', TEXT_SCHEMA],
  ['base64', TEXT_SCHEMA],
  ['lines', { type: 'array', items: TEXT_SCHEMA }],
  [
    'file',
    exactObject({
      name: TEXT_SCHEMA,
      path: TEXT_SCHEMA,
      size: { type: ['integer', 'null'] },
      sha256: { type: ['string', 'null'] },
      media_type: TEXT_SCHEMA,
    }),
  ],
]);

/** Base64 is a third longer than the bytes, and an output has the limit of files. */
const MAX_BASE64_BYTES = 7 * 2 ** 20;

/** Reads a file of a folder or of an object store, as a value or as a file of the run (D92). */
export const readFile = defineTool({
  name: 'read_file',
  description:
    'Reads a file in a folder or in an object store: as text, JSON, lines or base64, or as a file of the run',
  inputs: {
    path: { required: true, description: SOURCE_DESCRIPTION },
    output: {
      type: 'string',
      enum: OUTPUTS,
      default: 'text',
      description:
        'text, json (parsed), lines (a list of texts), base64, or file: a copy among the files of the run, of any size',
    },
    max_bytes: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_FILE_BYTES,
      default: MAX_FILE_BYTES,
      description: 'a larger file fails the task; without effect on files of the run',
    },
    connection: CONNECTION_INPUT,
  },
  output: {
    name: 'content',
    description:
      'the text, the value or the list of lines itself; of a file of the run name, path, size, sha256 and media_type',
    type: 'any',
  },
  deriveOutput: ({ output = 'text' }) => (typeof output === 'string' ? OUTPUT_SHAPES.get(output) : undefined),
  async run({ path, output, max_bytes: maxBytes, connection }, context) {
    const place = parsePlace(path, 'path');
    if (output === 'file') return await keepFile(place, connection ?? undefined, context);
    const limit = output === 'base64' ? Math.min(maxBytes, MAX_BASE64_BYTES) : maxBytes;
    const bytes = await readAll(place, connection ?? undefined, limit, context);
    if (output === 'base64') return bytes.toString('base64');
    return await toValue(decodeText(bytes, nameOfPlace(place)), output, place, context);
  },
});

async function keepFile(
  place: FilePlace,
  connection: string | undefined,
  context: ToolContext,
): Promise<object> {
  const source = await openSource(place, connection, context);
  const name = nameOfPlace(place);
  const mediaType = source.mediaType ?? guessMediaType(name);
  const target = {
    place: { kind: 'artifact', name } as const,
    connection,
    mediaType,
    ifExists: 'replace' as const,
  };
  const { path, size, sha256 } = await writeTarget(source, target, context);
  return { name, path, size, sha256, media_type: mediaType };
}

async function readAll(
  place: FilePlace,
  connection: string | undefined,
  limitBytes: number,
  context: ToolContext,
): Promise<Buffer> {
  const { size, pieces } = await openSource(place, connection, context);
  if (size > limitBytes) throw tooLarge(place, size, limitBytes);
  context.holdMemory(2 * size);
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    length += piece.length;
    if (length > limitBytes) throw tooLarge(place, length, limitBytes);
    context.signal.throwIfAborted();
    read.push(piece);
  }
  return Buffer.concat(read, length);
}

async function toValue(
  text: string,
  output: 'text' | 'json' | 'lines',
  place: FilePlace,
  context: ToolContext,
): Promise<Json> {
  if (output === 'text') return text;
  if (output === 'lines') return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
  try {
    return await parseJsonWithPauses(text, context);
  } catch (cause) {
    if (cause instanceof ToolError) throw cause;
    throw ToolError.nonRetryable(`"${nameOfPlace(place)}" is not JSON: ${errorMessage(cause)}`, cause);
  }
}

function tooLarge(place: FilePlace, size: number, limitBytes: number): ToolError {
  return ToolError.nonRetryable(
    `"${nameOfPlace(place)}" has ${formatMebibytes(size)}, more than the limit of ${formatMebibytes(limitBytes)}: ` +
      '"output: file" makes it a file of the run, and copy_file copies it',
  );
}
