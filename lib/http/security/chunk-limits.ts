import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WavetrainError } from '../../common/errors.js';
import { formatNumber } from '../../common/text.js';

/** So many chunks may have any length: nobody can hold the event loop with them. */
const MAX_SMALL_CHUNKS = 1000;

/** A body in more chunks than that must have so many bytes in each of them, on average. */
const MIN_MEAN_LENGTH = 64;

/** The code of the error that a parser reports when it was paused and more bytes arrive. */
export const PARSER_PAUSED = 'HPE_PAUSED';

/** The parser of a connection. Node.js documents none of it. */
interface Parser {
  readonly constructor: { readonly kOnBody?: number };
  [callback: number]: unknown;
  pause?(): void;
}

/**
 * A request whose body is refused when it arrives in a great many tiny chunks. A chunk of one byte takes as much time as one
 * of some hundred bytes, and one packet may have thousands of them, which Node.js hands over in one go, whether somebody
 * reads the body or not.
 */
export class ChunkLimitedRequest extends IncomingMessage {
  #chunks = 0;
  #length = 0;
  #isRefused = false;

  /** Node.js calls this with each chunk, and with null at the end. */
  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    if (chunk !== null) {
      this.#chunks++;
      this.#length += chunk.length;
      if (this.#chunks > MAX_SMALL_CHUNKS && this.#length < MIN_MEAN_LENGTH * this.#chunks) {
        this.#refuse();
        return true;
      }
    }
    return super.push(chunk, encoding);
  }

  /** True when the body was refused: its text lacks everything after the last chunk that was allowed. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** Lets the server respond with an error. */
  #refuse(): void {
    if (this.#isRefused) return;
    this.#isRefused = true;
    const { socket } = this;
    stopParsing(socket);
    // As Node.js does with an error of the parser, not while it parses.
    queueMicrotask(() => socket.emit('error', tinyChunksError()));
  }
}

/**
 * Call when a body was read: its end may be in the packet in which it was refused.
 *
 * @throws WavetrainError `invalid_request` when it was refused
 */
export function assertAllChunks(request: IncomingMessage): void {
  if (request instanceof ChunkLimitedRequest && request.isRefused) throw tinyChunksError();
}

/** The rest of the body is neither handed over nor, after this packet, parsed. */
function stopParsing(socket: Socket & { readonly parser?: Parser | null }): void {
  const { parser } = socket;
  const onBody = parser?.constructor.kOnBody;
  if (!parser || onBody === undefined) return;
  // Node.js would make a buffer of each chunk that has arrived, and give it to a function.
  const callback = parser[onBody];
  parser[onBody] = null;
  parser.pause?.();
  // Another connection uses the parser after this one.
  socket.once('close', () => {
    parser[onBody] = callback;
  });
}

function tinyChunksError(): WavetrainError {
  return new WavetrainError(
    'invalid_request',
    `the body arrives in more than ${formatNumber(MAX_SMALL_CHUNKS)} chunks of fewer than ${MIN_MEAN_LENGTH} ` +
      'bytes on average: send larger ones',
  );
}
