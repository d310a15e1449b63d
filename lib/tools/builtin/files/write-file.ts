import { ToolError } from '../../../common/errors.js';
import { describeKind, type Json } from '../../../common/json/json.js';
import { MAX_FILE_BYTES } from '../../../common/limits.js';
import { formatMebibytes } from '../../../common/text.js';
import { runForAttempt } from '../../../common/scheduling/run-in-slices.js';
import { toJsonTextInSteps } from '../../files/export/json-text.js';
import { defineTool, type ToolContext } from '../../tool.js';
import type { SizedContent } from '../../files/object-stores/upload.js';
import { encodeText, once } from './content.js';
import { CONNECTION_INPUT, guessMediaType, parsePlace } from './places.js';
import { IF_EXISTS, nameOfPlace, writeTarget, TRANSFER_SCHEMA } from './transfer.js';

/** Writes a text or a value to a file in a folder or in an object store (D92). */
export const writeFile = defineTool({
  name: 'write_file',
  description: 'Writes a text, bytes or a value to a file in a folder or in an object store',
  inputs: {
    path: {
      type: 'string',
      required: true,
      description: 'a path in a folder in which tools may write, or an object, such as s3://bucket/key',
    },
    content: {
      required: true,
      description: 'a text, which is written as it is; any other value as indented JSON',
    },
    encoding: {
      type: 'string',
      enum: ['text', 'base64'],
      default: 'text',
      description: 'base64: the content is a text that encodes bytes',
    },
    if_exists: {
      type: 'string',
      enum: IF_EXISTS,
      default: 'replace',
      description: 'what happens to a file that is there',
    },
    content_type: {
      type: 'string',
      default: null,
      description: 'the media type of an object; default: by the ending of its key',
    },
    connection: CONNECTION_INPUT,
  },
  output: {
    name: 'file',
    description: 'status (written or skipped), path, size, sha256, etag (of an object)',
    type: 'object',
    schema: TRANSFER_SCHEMA,
  },
  async run(
    { path, content, encoding, if_exists: ifExists, content_type: contentType, connection },
    context,
  ) {
    const place = parsePlace(path, 'path');
    const source = await encode(content, encoding, context);
    if (source.size > MAX_FILE_BYTES)
      throw ToolError.nonRetryable(
        `the content has more than ${formatMebibytes(MAX_FILE_BYTES)}: copy_file copies larger files`,
      );
    const mediaType = contentType ?? guessMediaType(nameOfPlace(place));
    const target = { place, connection: connection ?? undefined, mediaType, ifExists };
    return await writeTarget(source, target, context);
  },
});

async function encode(
  content: Json,
  encoding: 'text' | 'base64',
  context: ToolContext,
): Promise<SizedContent> {
  if (encoding === 'text') {
    const text =
      typeof content === 'string' ? content : await runForAttempt(toJsonTextInSteps(content), context);
    return { size: Buffer.byteLength(text), pieces: encodeText(text) };
  }
  if (typeof content !== 'string' || !BASE64.test(content.trimEnd())) {
    const found = typeof content === 'string' ? 'a text that is none' : describeKind(content);
    throw ToolError.nonRetryable(`"content" must be base64, not ${found}`);
  }
  const bytes = Buffer.from(content, 'base64');
  context.holdMemory(bytes.length);
  return { size: bytes.length, pieces: once(bytes) };
}

const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}$/;
