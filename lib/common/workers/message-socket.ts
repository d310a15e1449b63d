import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { bytesFrame, deserializeFrame, FRAME, FrameReader, serializeFrame } from './frames.js';

/** Longer texts and bytes are cut into pieces, in characters or bytes: copying one takes about 0.1 ms. */
const PIECE_LENGTH = 64 * 1024;

/** How many pieces are sent before the event loop gets its turn. */
const PIECES_PER_TURN = 4;

/** The long parts of one message together, in characters and bytes: more than any program of a worker process sends. */
const MAX_PARTS_LENGTH = 256 * 2 ** 20;

/** A field of a message that is sent behind it, in pieces. */
interface Part {
  readonly field: string;
  readonly kind: 'text' | 'bytes';
  readonly length: number;
}

/** What is sent first: a head for the protocol, a body for the program, without its long fields. */
interface Opening<Head> {
  readonly head: Head;
  readonly body: unknown;
  readonly parts: readonly Part[];
}

type Fields = Record<string, unknown>;

/**
 * Sends messages to another process and receives its own, one after another. The fields of a body that are long texts or
 * bytes travel in pieces, so that neither side copies more than one piece at once: a server does other work in between.
 * Everything else is a structured clone. Bytes arrive as a Buffer.
 *
 * A message that cannot be read destroys the socket with an error.
 */
export class MessageSocket<SentHead, ReceivedHead> {
  readonly #socket: Socket;
  readonly #onMessage: (head: ReceivedHead, body: unknown) => void;
  readonly #reader = new FrameReader();
  #incoming: IncomingMessage<ReceivedHead> | undefined;

  constructor(socket: Socket, onMessage: (head: ReceivedHead, body: unknown) => void) {
    this.#socket = socket;
    this.#onMessage = onMessage;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
  }

  /** Resolves when the system has taken the message, or the socket was closed. Not to be called before that again. */
  async send(head: SentHead, body?: unknown): Promise<void> {
    const parts = findParts(body);
    const opening: Opening<SentHead> = { head, body: withoutParts(body, parts), parts };
    const kind = parts.length === 0 ? FRAME.message : FRAME.opening;
    await this.#write(serializeFrame(kind, opening));
    for (const { field } of parts) await this.#sendPart((body as Fields)[field] as string | Uint8Array);
  }

  async #sendPart(value: string | Uint8Array): Promise<void> {
    let pieces = 0;
    for (let offset = 0; offset < value.length && !this.#socket.destroyed; offset += PIECE_LENGTH) {
      await this.#write(pieceFrame(value, offset));
      if (++pieces % PIECES_PER_TURN === 0) await setImmediate();
    }
  }

  async #write(frame: Buffer): Promise<void> {
    // The owner of the socket hears of its errors.
    await new Promise<void>((resolve) => this.#socket.write(frame, () => resolve()));
  }

  #receive(chunk: Buffer): void {
    try {
      this.#reader.add(chunk);
      for (let frame = this.#reader.next(); frame !== undefined; frame = this.#reader.next()) {
        this.#accept(frame.kind, frame.payload);
      }
    } catch (error) {
      this.#socket.destroy(error as Error);
    }
  }

  #accept(kind: number, payload: Buffer): void {
    if (kind === FRAME.message) {
      const { head, body } = deserializeFrame(payload) as Opening<ReceivedHead>;
      this.#onMessage(head, body);
      return;
    }
    if (kind === FRAME.opening) {
      this.#incoming = new IncomingMessage(deserializeFrame(payload) as Opening<ReceivedHead>);
      return;
    }
    if (this.#incoming?.add(kind === FRAME.text ? (deserializeFrame(payload) as string) : payload) !== true)
      return;
    const { head, body } = this.#incoming;
    this.#incoming = undefined;
    this.#onMessage(head, body);
  }
}

/** A message whose parts are arriving. */
class IncomingMessage<Head> {
  readonly head: Head;
  readonly body: Fields;
  readonly #parts: Part[];
  #texts: string[] = [];
  #bytes: Buffer | undefined;
  #received = 0;

  /** @throws RangeError when the parts are too long */
  constructor({ head, body, parts }: Opening<Head>) {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (length > MAX_PARTS_LENGTH) throw new RangeError(`a message of ${length} bytes is too long`);
    this.head = head;
    this.body = body as Fields;
    this.#parts = [...parts];
  }

  /** Adds a piece. Returns whether the message is complete. */
  add(piece: string | Buffer): boolean {
    const [part] = this.#parts;
    if (part === undefined) return false;
    if (typeof piece === 'string') this.#texts.push(piece);
    else (this.#bytes ??= Buffer.allocUnsafeSlow(part.length)).set(piece, this.#received);
    this.#received += piece.length;
    if (this.#received < part.length) return false;
    this.body[part.field] = part.kind === 'text' ? this.#texts.join('') : this.#bytes;
    this.#parts.shift();
    this.#texts = [];
    this.#bytes = undefined;
    this.#received = 0;
    return this.#parts.length === 0;
  }
}

function findParts(body: unknown): Part[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return [];
  const parts: Part[] = [];
  for (const [field, value] of Object.entries(body)) {
    const kind = typeof value === 'string' ? 'text' : value instanceof Uint8Array ? 'bytes' : undefined;
    if (kind === undefined) continue;
    const { length } = value as string | Uint8Array;
    if (length > PIECE_LENGTH) parts.push({ field, kind, length });
  }
  return parts;
}

function withoutParts(body: unknown, parts: readonly Part[]): unknown {
  if (parts.length === 0) return body;
  const long = new Set(parts.map(({ field }) => field));
  return Object.fromEntries(Object.entries(body as Fields).filter(([field]) => !long.has(field)));
}

function pieceFrame(value: string | Uint8Array, offset: number): Buffer {
  const end = offset + PIECE_LENGTH;
  return typeof value === 'string'
    ? serializeFrame(FRAME.text, value.slice(offset, end))
    : bytesFrame(FRAME.bytes, value.subarray(offset, end));
}
