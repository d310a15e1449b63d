import { nextTurn } from '../scheduling/turns.js';
import type { Socket } from 'node:net';
import { bytesFrame, deserializeFrame, FRAME, FrameReader, serializeFrame } from './frames.js';
import { WorkerError } from './protocol.js';

/** In characters or bytes: copying a piece takes about 0.1 ms. */
const PIECE_LENGTH = 64 * 1024;

/** How many pieces are sent before the event loop gets its turn. */
const PIECES_PER_TURN = 4;

/** The long parts of one message together, in characters and bytes: more than any program of a worker process sends. */
const MAX_PARTS_LENGTH = 256 * 2 ** 20;

/** Cuts a long text into pieces that a message can carry. */
export function cutIntoPieces(text: string): readonly string[] {
  const pieces = [];
  for (let offset = 0; offset < text.length; offset += PIECE_LENGTH) {
    pieces.push(text.slice(offset, offset + PIECE_LENGTH));
  }
  return pieces;
}

/** A field of a message that is sent behind it, in pieces. */
interface Part {
  readonly field: string;
  readonly kind: 'texts' | 'bytes';
  /** In characters or bytes. */
  readonly length: number;
}

/** Sent first: a head for the protocol, and a body for the program, without its long fields. */
interface Opening<Head> {
  readonly head: Head;
  readonly body: unknown;
  readonly parts: readonly Part[];
}

type Fields = Record<string, unknown>;

/**
 * Sends messages to another process and receives its own, one after another. Two kinds of fields of a body may be long:
 * lists of texts, such as pieces of JSON, and bytes. Long ones travel in pieces, so that neither side copies more than
 * one piece at once, and nobody needs one text for all: a server does other work in between. Everything else is a
 * structured clone. Bytes arrive as a Buffer; empty texts of a long list do not arrive.
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
    const kind = parts.length === 0 ? FRAME.message : FRAME.opening;
    const opening: Opening<SentHead> = { head, body: withoutParts(body, parts), parts };
    let frames = [serializeFrame(kind, opening)];
    for (const frame of frameParts(body as Fields, parts)) {
      if (frames.push(frame) < PIECES_PER_TURN) continue;
      await this.#write(frames);
      await nextTurn();
      if (this.#socket.destroyed) return;
      frames = [];
    }
    await this.#write(frames);
  }

  async #write(frames: readonly Buffer[]): Promise<void> {
    const { length } = frames;
    if (length === 0) return;
    // The owner of the socket handles its errors.
    await new Promise<void>((resolve) => {
      this.#socket.cork();
      frames.forEach((frame, index) =>
        this.#socket.write(frame, index === length - 1 ? () => resolve() : undefined),
      );
      this.#socket.uncork();
    });
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

  /** @throws WorkerError when the parts are too long */
  constructor({ head, body, parts }: Opening<Head>) {
    const length = parts.reduce((sum, part) => sum + Math.abs(part.length), 0);
    if (length > MAX_PARTS_LENGTH)
      throw new WorkerError('unreachable', `a message of ${length} bytes is too long`);
    this.head = head;
    this.body = body as Fields;
    this.#parts = [...parts];
  }

  /** Adds a piece, unless it is empty. Returns whether the message is complete. */
  add(piece: string | Buffer): boolean {
    const [part] = this.#parts;
    if (part === undefined || piece.length === 0) return false;
    if (typeof piece === 'string') this.#texts.push(piece);
    else (this.#bytes ??= Buffer.allocUnsafeSlow(part.length)).set(piece, this.#received);
    this.#received += piece.length;
    if (this.#received < part.length) return false;
    this.body[part.field] = part.kind === 'texts' ? this.#texts : this.#bytes;
    this.#parts.shift();
    this.#texts = [];
    this.#bytes = undefined;
    this.#received = 0;
    return this.#parts.length === 0;
  }
}

function findParts(body: unknown): Part[] {
  if (typeof body !== 'object' || body === null) return [];
  const parts: Part[] = [];
  for (const [field, value] of Object.entries(body)) {
    if (value instanceof Uint8Array) parts.push({ field, kind: 'bytes', length: value.length });
    else if (isTexts(value)) parts.push({ field, kind: 'texts', length: totalLength(value) });
  }
  return parts.filter(({ length }) => length > PIECE_LENGTH);
}

function isTexts(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && typeof value[0] === 'string' && value.every((item) => typeof item === 'string')
  );
}

function totalLength(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}

function withoutParts(body: unknown, parts: readonly Part[]): unknown {
  if (parts.length === 0) return body;
  const long = new Set(parts.map(({ field }) => field));
  return Object.fromEntries(Object.entries(body as Fields).filter(([field]) => !long.has(field)));
}

function* frameParts(body: Fields, parts: readonly Part[]): Generator<Buffer> {
  for (const { field, kind } of parts) {
    if (kind === 'texts')
      for (const text of body[field] as readonly string[]) yield serializeFrame(FRAME.text, text);
    else yield* framesOf(body[field] as Uint8Array);
  }
}

function* framesOf(bytes: Uint8Array): Generator<Buffer> {
  for (let offset = 0; offset < bytes.length; offset += PIECE_LENGTH) {
    yield bytesFrame(FRAME.bytes, bytes.subarray(offset, offset + PIECE_LENGTH));
  }
}
