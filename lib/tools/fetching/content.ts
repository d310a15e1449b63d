import { errorMessage, ToolError } from '../../common/errors.js';
import { cutText } from '../../common/text.js';
import type { Json } from '../../common/json.js';
import type { FetchedResponse } from '../tool.js';

/** How the body of a response is read: `auto` by its type. */
export type ContentKind = 'auto' | 'json' | 'text' | 'bytes';

/** Types beside `text/…` and those that end in +json or +xml whose content is text. */
const TEXT_TYPES = new Set([
  'application/csv',
  'application/ecmascript',
  'application/graphql',
  'application/javascript',
  'application/jsonl',
  'application/sql',
  'application/toml',
  'application/x-ndjson',
  'application/x-www-form-urlencoded',
  'application/x-yaml',
  'application/xml',
  'application/yaml',
]);

/**
 * Reads the body of a response: parsed JSON, text, or bytes; null when it is empty and should be JSON.
 *
 * @throws ToolError for a body that is not what its type or `kind` says
 */
export function readContent(response: FetchedResponse, kind: ContentKind = 'auto'): Json | Buffer {
  const { bytes } = response;
  const type = readMediaType(response);
  const actual = kind === 'auto' ? kindOf(type, bytes) : kind;
  if (actual === 'bytes') return bytes;
  const text = decodeBody(response);
  return actual === 'json' ? parseBody(text, response) : text;
}

/** The type of a response without its parameters, in lower case; empty when it has none. */
export function readMediaType({ headers }: FetchedResponse): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** The beginning of a body for a message, in one line. */
export function excerptOf(response: FetchedResponse, most = 200): string {
  const { bytes } = response;
  if (kindOf(readMediaType(response), bytes) === 'bytes') return `${bytes.length} bytes`;
  const start = decodeBody({ ...response, bytes: bytes.subarray(0, 4 * most) });
  return cutText(start.replaceAll(/\s+/g, ' ').trim(), most);
}

function kindOf(type: string, bytes: Buffer): Exclude<ContentKind, 'auto'> {
  if (type === 'application/json' || type === 'text/json' || type.endsWith('+json')) return 'json';
  if (type.startsWith('text/') || type.endsWith('+xml') || TEXT_TYPES.has(type)) return 'text';
  return type === '' && isText(bytes) ? 'text' : 'bytes';
}

function isText(bytes: Buffer): boolean {
  try {
    return !new TextDecoder('utf-8', { fatal: true }).decode(bytes).includes('\0');
  } catch {
    return false;
  }
}

/** Decodes with the character set of the header; a byte-order mark is dropped. */
export function decodeBody({ headers, bytes }: FetchedResponse): string {
  const [, named] = /;\s*charset\s*=\s*"?([^\s;"]{1,40})/i.exec(headers['content-type'] ?? '') ?? [];
  return createDecoder(named ?? 'utf-8').decode(bytes);
}

const utf8 = new TextDecoder();

function createDecoder(label: string): Pick<typeof utf8, 'decode'> {
  try {
    return new TextDecoder(label);
  } catch {
    // An unknown name: nearly everything is UTF-8.
    return utf8;
  }
}

function parseBody(text: string, { url }: FetchedResponse): Json {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    const { host } = new URL(url);
    throw new ToolError(`the answer of ${host} should be JSON, but is not: ${errorMessage(cause)}`, {
      cause,
    });
  }
}
