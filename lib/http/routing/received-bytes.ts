import type { IncomingMessage } from 'node:http';
import { WavetrainError } from '../../common/errors.js';

/** So many chunks may have any length: nobody can hold the event loop with them. */
const MAX_SMALL_CHUNKS = 1000;

/** A body in more chunks than that must have so many bytes in each of them, on average. */
const MIN_MEAN_LENGTH = 64;

/**
 * The bytes of a body, joined as they arrive. A chunk of one byte takes as much memory as one of some hundred bytes, and
 * as much time, so that none is kept and a body in a great many of them is refused.
 */
export class ReceivedBytes {
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;
  #chunks = 0;

  /** @throws WavetrainError `invalid_request` when the chunks are too small */
  add(chunk: Buffer): void {
    this.#chunks++;
    const length = this.#length + chunk.length;
    // Most bodies are one chunk, which need not be copied.
    if (this.#length === 0) this.#buffer = chunk;
    else {
      if (length > this.#buffer.length) this.#growTo(2 * length);
      chunk.copy(this.#buffer, this.#length);
    }
    this.#length = length;
    if (this.#chunks <= MAX_SMALL_CHUNKS || length >= MIN_MEAN_LENGTH * this.#chunks) return;
    throw new WavetrainError(
      'invalid_request',
      `the body arrives in more than ${MAX_SMALL_CHUNKS.toLocaleString('en')} chunks of fewer than ${MIN_MEAN_LENGTH} ` +
        'bytes on average: send larger ones',
    );
  }

  /** All bytes so far. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #growTo(length: number): void {
    const buffer = Buffer.allocUnsafe(length);
    this.#buffer.copy(buffer, 0, 0, this.#length);
    this.#buffer = buffer;
  }
}

/**
 * Calls `onChunk` with each chunk of a body that `read` receives. When `onChunk` throws, rejects with that error, and with
 * its reason when `signal` is aborted. Then it drops the rest of the body: `read` would add each chunk that has arrived
 * already to its text.
 */
export async function receiveWith<T>(
  request: IncomingMessage,
  onChunk: (chunk: Buffer) => void,
  read: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  let refuse: (error: unknown) => void = () => undefined;
  const refused = new Promise<never>((_, reject) => {
    refuse = (error) => {
      request.removeAllListeners('data');
      reject(error);
    };
  });
  const listener = (chunk: Buffer): void => {
    try {
      onChunk(chunk);
    } catch (error) {
      refuse(error);
    }
  };
  const abort = (): void => refuse(signal?.reason);
  request.on('data', listener);
  signal?.addEventListener('abort', abort);
  try {
    return await Promise.race([read(), refused]);
  } finally {
    request.off('data', listener);
    signal?.removeEventListener('abort', abort);
  }
}
