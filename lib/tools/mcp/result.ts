import { ToolError } from '../../common/errors.js';
import { isObject, type Json } from '../../common/json/json.js';
import type { ToolArtifacts } from '../files/artifacts.js';
import type { RemoteContent, RemoteResult } from './session.js';

/** Maximum number of blocks in an answer. */
const MAX_BLOCKS = 10_000;

/**
 * Turns the answer of a server into the output of a task (D49): its structured content; else its text; else the list of
 * its blocks. Bytes, such as an image, become files of the run, and their blocks name them.
 *
 * @throws ToolError with the text of an answer that is an error
 */
export async function toOutput(
  result: RemoteResult,
  tool: string,
  artifacts: ToolArtifacts,
): Promise<unknown> {
  const { content, structuredContent, isError } = result;
  if (isError === true) throw new ToolError(joinTexts(content) || `${tool} failed without a message`);
  if (structuredContent !== undefined) return structuredContent;
  if (content.length === 0) return '';
  if (content.every(({ type }) => type === 'text')) return joinTexts(content);
  if (content.length > MAX_BLOCKS)
    throw ToolError.nonRetryable(`${tool} answered with ${content.length} blocks; ${MAX_BLOCKS} are allowed`);
  const blocks: Json[] = [];
  for (const block of content) blocks.push(await toBlock(block, tool, artifacts));
  return blocks;
}

function joinTexts(content: readonly RemoteContent[]): string {
  return content.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
}

/** Writes the bytes of a block to a file. */
async function toBlock(block: RemoteContent, tool: string, artifacts: ToolArtifacts): Promise<Json> {
  const { type, data, mimeType, resource } = block;
  if (typeof data === 'string') return { type, ...(await writeFile(data, mimeType, tool, artifacts)) };
  if (type === 'resource' && isObject(resource) && typeof resource['blob'] === 'string') {
    const { blob, uri, mimeType: mediaType } = resource;
    return { type, uri: String(uri), ...(await writeFile(blob, mediaType, tool, artifacts)) };
  }
  return block as unknown as Json;
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/svg+xml': 'svg',
  'audio/wav': 'wav',
  'audio/mpeg': 'mp3',
  'application/pdf': 'pdf',
  'application/json': 'json',
  'text/plain': 'txt',
};

const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/;

async function writeFile(
  base64: string,
  mediaType: unknown,
  tool: string,
  artifacts: ToolArtifacts,
): Promise<Record<string, Json>> {
  const media_type =
    typeof mediaType === 'string' && MEDIA_TYPE.test(mediaType) ? mediaType : 'application/octet-stream';
  const name = `${tool.replaceAll(/[^\w-]+/g, '-')}.${EXTENSIONS[media_type] ?? 'bin'}`;
  const written = await artifacts.write({ name, bytes: Buffer.from(base64, 'base64'), media_type });
  return { ...written };
}
