import { type Duplex, pipeline, Readable, Transform } from 'node:stream';
import { ToolError } from '../../common/errors.js';
import { formatMebibytes } from '../../common/text.js';

/** How a response is read. */
export interface BodyOptions {
  /** Maximum size as it was sent, and as it is unpacked. */
  readonly maxBytes: number;
  /** Called with the size of every part that has arrived, as it was sent. May throw. */
  readonly onArrived: (bytes: number) => void;
  /** Called with the size of every part that is kept. May throw. */
  readonly onKept: (bytes: number) => void;
  /** Called before the parts of a long body are joined: those of many may arrive in one turn of the event loop. */
  readonly pause: () => Promise<void> | undefined;
}

/** To join or to decode a longer body holds the event loop. */
export const LONG_BODY_BYTES = 64 * 1024;

/** A response may be packed several times; nobody does. */
const MAX_ENCODINGS = 2;

const MAX_SHOWN_ENCODING = 100;

/**
 * Reads a response to its end and unpacks it (gzip, deflate, br) part by part, so that a small one that unpacks to a huge
 * one takes no more memory than the limit.
 *
 * Rejects with a ToolError for a response that is too large or packed in another way, else with what the stream throws.
 */
export async function readBody(
  body: Readable,
  encoding: string | undefined,
  options: BodyOptions,
): Promise<Buffer> {
  const { maxBytes, onArrived, onKept, pause } = options;
  const encodings = readEncodings(encoding);
  const chunks: Buffer[] = [];
  let length = 0;
  const unpacked = encodings.length === 0 ? body : unpack(body, encodings, options);
  for await (const chunk of unpacked as AsyncIterable<Buffer>) {
    if (unpacked === body) onArrived(chunk.length);
    length += chunk.length;
    if (length > maxBytes) throw tooLargeError(maxBytes);
    onKept(chunk.length);
    chunks.push(chunk);
  }
  const paused = length > LONG_BODY_BYTES ? pause() : undefined;
  if (paused !== undefined) await paused;
  return Buffer.concat(chunks, length);
}

export function tooLargeError(maxBytes: number): ToolError {
  const limit = maxBytes < 2 ** 20 ? `${maxBytes} bytes` : formatMebibytes(maxBytes);
  return ToolError.nonRetryable(`the response is larger than the limit of ${limit}`);
}

/** @throws ToolError, not retryable, when the response is packed in a way that cannot be unpacked */
function readEncodings(header: string | undefined): string[] {
  const named = (header ?? '').split(',').map((name) => name.trim().toLowerCase());
  const encodings = named.filter((name) => name !== '' && name !== 'identity');
  const unknown = encodings.find((name) => !DECODERS.has(name));
  if (unknown === undefined && encodings.length <= MAX_ENCODINGS) return encodings;
  const shown = (unknown ?? encodings.join(', ')).slice(0, MAX_SHOWN_ENCODING);
  throw ToolError.nonRetryable(
    `the response is packed as "${shown}"; only gzip, deflate and br can be unpacked`,
  );
}

const ignore = (): void => undefined;

function unpack(body: Readable, encodings: readonly string[], options: BodyOptions): Readable {
  let stream: Readable = pipeline(body, meter(options), ignore);
  for (const encoding of encodings.toReversed()) {
    const decode = DECODERS.get(encoding);
    if (decode !== undefined) stream = Readable.from(decode(stream));
  }
  return stream;
}

/** Counts what arrives: also empty packages, of which an endless number would unpack to nothing. */
function meter({ maxBytes, onArrived }: BodyOptions): Transform {
  let arrived = 0;
  return new Transform({
    transform(chunk: Buffer, _, callback) {
      arrived += chunk.length;
      try {
        onArrived(chunk.length);
      } catch (error) {
        return callback(error instanceof Error ? error : new Error('stopped', { cause: error }));
      }
      if (arrived > maxBytes) callback(tooLargeError(maxBytes));
      else callback(null, chunk);
    },
  });
}

type Decoder = (source: AsyncIterable<Buffer>) => AsyncGenerator<Buffer>;

/** Unpacks with a stream that depends on the first part. */
function decodeWith(create: (zlib: typeof import('node:zlib'), first: Buffer) => Duplex): Decoder {
  return async function* (source) {
    const parts = source[Symbol.asyncIterator]();
    const first = await parts.next();
    // An empty body needs no unpacking, as after HEAD.
    if (first.done === true) return;
    const decoder = create(await import('node:zlib'), first.value);
    try {
      yield* pipeline(prepend(first.value, parts), decoder, ignore) as AsyncIterable<Buffer>;
    } catch (error) {
      throw isZlibError(error) ? new DecodingError(error) : error;
    }
  };
}

async function* prepend(first: Buffer, others: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  for (let next = await others.next(); next.done !== true; next = await others.next()) yield next.value;
}

/** Thrown for bytes that are not packed as the response says, or that end too early. */
export class DecodingError extends Error {
  constructor(cause: Error) {
    super(`it is not packed as its header "content-encoding" says, or cut off: ${cause.message}`, { cause });
  }
}

/** Brotli reports `ERR__ERROR_FORMAT_…`, with two underscores. */
function isZlibError(error: unknown): error is Error {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return typeof error.code === 'string' && /^(Z_|ERR__|ERR_BROTLI|ERR_PADDING)/.test(error.code);
}

const gunzip = decodeWith((zlib) => zlib.createGunzip());

/** "deflate" means zlib's format, but some servers send the bare data. */
const inflate = decodeWith((zlib, first) =>
  ((first[0] ?? 0) & 15) === 8 ? zlib.createInflate() : zlib.createInflateRaw(),
);

const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  ['br', decodeWith((zlib) => zlib.createBrotliDecompress())],
]);
