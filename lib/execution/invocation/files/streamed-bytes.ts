import { ToolError } from '../../../common/errors.js';
import { describeKind } from '../../../common/json/json.js';
import { formatMebibytes } from '../../../common/text.js';

/** Maximum size of one file that a tool writes piece by piece. */
const MAX_STREAMED_BYTES = 100 * 2 ** 30;

/** The disk that a file takes while its size is not known. */
interface GrowingFile {
  /** @throws ToolError, not retryable, when there is no room */
  reserveDisk(bytes: number): void;
  releaseDisk(bytes: number): void;
}

const OVER = 'the file was not written: the attempt is over';

/**
 * The bytes of a file that a tool makes while it is written. Each piece takes its disk before it is written, and the next one is asked
 * for when it was. A tool that never goes on holds nothing up: `stop` ends the stream at once.
 */
export class StreamedBytes implements AsyncIterable<Uint8Array> {
  readonly #name: string;
  readonly #pieces: AsyncIterable<Uint8Array>;
  readonly #file: GrowingFile;
  #size = 0;
  #isStopped = false;
  #refuseNext: ((error: ToolError) => void) | undefined;

  /** @param name of the file in messages */
  constructor(name: string, pieces: AsyncIterable<Uint8Array>, file: GrowingFile) {
    this.#name = name;
    this.#pieces = pieces;
    this.#file = file;
  }

  get size(): number {
    return this.#size;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    const iterator = this.#pieces[Symbol.asyncIterator]();
    let isDone = false;
    try {
      for (;;) {
        const { done, value } = await this.#orStopped(iterator.next());
        if (done === true) {
          isDone = true;
          return;
        }
        this.#count(value);
        yield value;
      }
    } finally {
      // Not awaited: a generator that waits for something ends only after that.
      if (!isDone) void iterator.return?.().catch(() => undefined);
    }
  }

  /** Call when nobody needs the file any more. */
  stop(): void {
    this.#isStopped = true;
    this.#refuseNext?.(ToolError.nonRetryable(OVER));
  }

  /** Returns the disk of what was written, when the file counts otherwise or not at all. */
  release(): void {
    this.#file.releaseDisk(this.#size);
    this.#size = 0;
  }

  async #orStopped<T>(next: Promise<T>): Promise<T> {
    if (this.#isStopped) throw ToolError.nonRetryable(OVER);
    const stopped = new Promise<never>((_, reject) => {
      this.#refuseNext = reject;
    });
    return await Promise.race([next, stopped]);
  }

  #count(piece: unknown): void {
    if (!(piece instanceof Uint8Array)) {
      const message = `the pieces of the file "${this.#name}" must be bytes, not ${describeKind(piece)}`;
      throw ToolError.nonRetryable(message);
    }
    if (this.#size + piece.byteLength > MAX_STREAMED_BYTES) {
      const message = `the file "${this.#name}" has more than ${formatMebibytes(MAX_STREAMED_BYTES)}, the maximum`;
      throw ToolError.nonRetryable(`${message}: write several files`);
    }
    this.#file.reserveDisk(piece.byteLength);
    this.#size += piece.byteLength;
  }
}

/** Returns true for bytes that are made while they are written. */
export function isStream(bytes: unknown): bytes is AsyncIterable<Uint8Array> {
  return typeof bytes === 'object' && bytes !== null && Symbol.asyncIterator in bytes;
}
