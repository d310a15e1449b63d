import type { IncomingMessage } from 'node:http';

/** A smaller chunk takes more memory than its bytes, and is copied. */
const LARGE_CHUNK_BYTES = 1024;

/** Where small chunks are copied to. */
const PAGE_BYTES = 4096;

const NO_PAGE = Buffer.alloc(0);

/**
 * The bytes of a body, as they arrive: large chunks as they are, and small ones together, since a chunk of one byte takes as
 * much memory as one of some hundred bytes. All of it takes at most twice the memory of the bytes, and a page.
 */
export class ReceivedBytes {
  readonly #parts: Buffer[] = [];
  #page: Buffer = NO_PAGE;
  /** Bytes of the page that are used. */
  #used = 0;

  add(chunk: Buffer): void {
    if (chunk.length > this.#page.length - this.#used) {
      this.#endPage();
      // Most bodies are one chunk, which need not be copied.
      if (chunk.length >= LARGE_CHUNK_BYTES || this.#parts.length === 0) {
        this.#parts.push(chunk);
        return;
      }
      this.#page = Buffer.allocUnsafeSlow(PAGE_BYTES);
    }
    this.#used += chunk.copy(this.#page, this.#used);
  }

  /** All bytes so far. */
  get bytes(): Buffer {
    return Buffer.concat([...this.#parts, this.#page.subarray(0, this.#used)]);
  }

  #endPage(): void {
    if (this.#used > 0) this.#parts.push(this.#page.subarray(0, this.#used));
    this.#page = NO_PAGE;
    this.#used = 0;
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
