import type { IncomingMessage } from 'node:http';

/** The bytes of a body, joined as they arrive: a chunk of one byte takes as much memory as one of some hundred bytes. */
export class ReceivedBytes {
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;

  add(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    // Most bodies are one chunk, which need not be copied.
    if (this.#length === 0) this.#buffer = chunk;
    else {
      if (length > this.#buffer.length) this.#growTo(2 * length);
      chunk.copy(this.#buffer, this.#length);
    }
    this.#length = length;
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
