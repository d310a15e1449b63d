import { DefaultSerializer, deserialize } from 'node:v8';
import { WorkerError } from './protocol.js';

/** A frame is its length, its kind, and a serialized value or bytes. */
export const FRAME = {
  /** A whole message. */
  message: 0,
  /** A message whose parts follow. */
  opening: 1,
  /** A piece of a text. */
  text: 2,
  /** A piece of bytes. */
  bytes: 3,
} as const;

const HEADER_BYTES = 5;

/** A process that has been taken over sends no more than a value of this size at once: the server refuses it. */
const MAX_FRAME_BYTES = 64 * 2 ** 20;

/** Returns the frame of a value that structured cloning can copy. */
export function serializeFrame(kind: number, value: unknown): Buffer {
  const serializer = new DefaultSerializer();
  serializer.writeRawBytes(Buffer.alloc(HEADER_BYTES));
  serializer.writeHeader();
  serializer.writeValue(value);
  return setHeader(serializer.releaseBuffer(), kind);
}

/** Returns the frame of bytes. */
export function bytesFrame(kind: number, bytes: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + bytes.length);
  frame.set(bytes, HEADER_BYTES);
  return setHeader(frame, kind);
}

function setHeader(frame: Buffer, kind: number): Buffer {
  frame.writeUInt32LE(frame.length - HEADER_BYTES, 0);
  frame.writeUInt8(kind, HEADER_BYTES - 1);
  return frame;
}

export function deserializeFrame(payload: Buffer): unknown {
  return deserialize(payload);
}

/** Finds the frames in what a socket has received. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #received = 0;
  #header: { readonly length: number; readonly kind: number } | undefined;

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#received += chunk.length;
  }

  /**
   * Returns the next frame; undefined until all of it has been received.
   *
   * @throws WorkerError when it is too long
   */
  next(): { readonly kind: number; readonly payload: Buffer } | undefined {
    this.#header ??= this.#readHeader();
    if (this.#header === undefined || this.#received < this.#header.length) return undefined;
    const { kind, length } = this.#header;
    this.#header = undefined;
    return { kind, payload: this.#take(length) };
  }

  #readHeader(): { readonly length: number; readonly kind: number } | undefined {
    if (this.#received < HEADER_BYTES) return undefined;
    const header = this.#take(HEADER_BYTES);
    const length = header.readUInt32LE(0);
    if (length > MAX_FRAME_BYTES)
      throw new WorkerError('unreachable', `a message of ${length} bytes is too long`);
    return { length, kind: header.readUInt8(HEADER_BYTES - 1) };
  }

  /** Takes bytes that have been received, and copies only those of a frame that spans several chunks. */
  #take(length: number): Buffer {
    this.#received -= length;
    const [first] = this.#chunks;
    if (first !== undefined && first.length >= length) return this.#takeOfFirst(first, length);
    const joined = Buffer.allocUnsafe(length);
    let filled = 0;
    for (let chunk = first; chunk !== undefined && filled < length; [chunk] = this.#chunks) {
      filled += this.#takeOfFirst(chunk, Math.min(chunk.length, length - filled)).copy(joined, filled);
    }
    return joined;
  }

  #takeOfFirst(first: Buffer, length: number): Buffer {
    if (first.length === length) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(length);
    return first.subarray(0, length);
  }
}
