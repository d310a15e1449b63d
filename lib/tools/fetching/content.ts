import { errorMessage, ToolError } from '../../common/errors.js';
import { type Json, MAX_JSON_DEPTH } from '../../common/json/json.js';
import type { Steps } from '../../common/scheduling/steps.js';
import { MAX_OUTPUT_LENGTH } from '../../common/limits.js';
import { cutText, formatMebibytes } from '../../common/text.js';
import { measureJsonInSteps } from '../../definition/text/lossy-json.js';
import { parseJsonInSteps } from '../../common/json/parse-json.js';
import type { LimitedAttempt } from '../../common/scheduling/attempt-queue.js';
import { pauseWhenOver, runLongWork } from '../../common/scheduling/run-in-slices.js';
import type { FetchedResponse, ToolContext } from '../tool.js';
import { LONG_BODY_BYTES } from './response-body.js';

/** How the body of a response is read: `auto` by its type. */
export type ContentKind = 'auto' | 'json' | 'text' | 'bytes';

/** Types beside `text/…` and those that end in +json or +xml whose content is text. */
const TEXT_TYPES = new Set(
  `application/csv application/ecmascript application/graphql application/javascript application/jsonl
  application/sql application/toml application/x-ndjson application/x-www-form-urlencoded
  application/x-yaml application/xml application/yaml`.split(/\s+/),
);

/**
 * Reads the body of a response: parsed JSON, text, or bytes; null when it is empty and should be JSON. Rejects with a
 * ToolError for a body that is not what its type or `kind` says.
 */
export async function readContent(
  response: FetchedResponse,
  context: ParsingAttempt,
  kind: ContentKind = 'auto',
  mostBytes = MAX_OUTPUT_LENGTH,
): Promise<Json | Buffer> {
  const { bytes } = response;
  // To decode 8 MiB takes 5 ms, and the answers of many attempts may be there in the same turn: each looks at the time
  // that those before have taken.
  const pause = bytes.length > LONG_BODY_BYTES ? pauseWhenOver(context) : undefined;
  if (pause !== undefined) await pause;
  const type = readMediaType(response);
  const actual = kind === 'auto' ? kindOf(type, bytes) : kind;
  if (actual === 'bytes') return bytes;
  if (bytes.length > mostBytes) {
    const size = formatMebibytes(bytes.length);
    throw ToolError.nonRetryable(
      `the answer of ${new URL(response.url).host} has ${size}, more than an output may have: take it as bytes, or ask for less`,
    );
  }
  const text = decodeBody(response);
  return actual === 'json' ? parseBody(text, response, context) : text;
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
  return type === '' && bytes.length <= MAX_OUTPUT_LENGTH && isText(bytes) ? 'text' : 'bytes';
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

/** A longer text would hold the event loop. */
const MAX_LENGTH_AT_ONCE = 64 * 1024;

/** A list or an object takes 56 bytes, whatever its text: of a long text, one is allowed for so many characters. */
const MAX_CONTAINERS_AT_ONCE = 200_000;
const CHARACTERS_PER_CONTAINER = 16;

/** More keys of one object would hold the event loop whenever V8 makes room for them. */
const MAX_KEYS_AT_ONCE = 100_000;

/** Measured memory of a member of a list or an object, with its key. */
const MEMBER_BYTES = 48;
const CONTAINER_BYTES = 56;

/** The attempt that parses, and holds the memory for what it makes. */
export type ParsingAttempt = LimitedAttempt & Pick<ToolContext, 'holdMemory'>;

/**
 * Parses JSON, a long text with pauses while no other attempt does. Rejects with a SyntaxError, also for JSON that would
 * take very much time or memory for its length, and with a ToolError when the run has no memory left for what it makes.
 */
export async function parseJsonWithPauses(text: string, context: ParsingAttempt): Promise<Json> {
  if (text.length <= MAX_LENGTH_AT_ONCE) return JSON.parse(text) as Json;
  return runLongWork(context, () => parseLongJson(text, context));
}

function* parseLongJson(text: string, { holdMemory }: ParsingAttempt): Steps<Json> {
  const { depth, containers, members } = yield* measureJsonInSteps(text);
  if (depth > MAX_JSON_DEPTH) throw new SyntaxError(`it is nested deeper than ${MAX_JSON_DEPTH} levels`);
  if (containers > MAX_CONTAINERS_AT_ONCE + text.length / CHARACTERS_PER_CONTAINER)
    throw new SyntaxError(`it has ${containers} lists and objects, too many for its length`);
  holdMemory(text.length + containers * CONTAINER_BYTES + members * MEMBER_BYTES);
  return yield* parseJsonInSteps(text, undefined, MAX_KEYS_AT_ONCE);
}

async function parseBody(text: string, { url }: FetchedResponse, context: ParsingAttempt): Promise<Json> {
  if (text.trim() === '') return null;
  try {
    return await parseJsonWithPauses(text, context);
  } catch (cause) {
    if (cause instanceof ToolError) throw cause;
    const { host } = new URL(url);
    throw new ToolError(`the answer of ${host} should be JSON, but is not: ${errorMessage(cause)}`, {
      cause,
    });
  }
}
