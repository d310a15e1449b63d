import { createHash } from 'node:crypto';
import { ToolError } from '../../../common/errors.js';
import { endOfPiece } from '../../../common/text.js';
import { pauseWhenOver } from '../../../common/scheduling/run-in-slices.js';
import type { SizedContent } from '../../files/object-stores/upload.js';
import type { ToolContext } from '../../tool.js';

/** So many bytes are hashed at once: they take a millisecond. */
const HASHED_BYTES = 2 ** 19;

/** The content of a file on its way: counts and hashes it, ends with the attempt, and fails when it is longer or shorter than it was. */
export class CountedContent implements AsyncIterable<Uint8Array> {
  readonly #source: SizedContent;
  readonly #context: ToolContext;
  readonly #hash = createHash('sha256');
  #size = 0;

  constructor(source: SizedContent, context: ToolContext) {
    this.#source = source;
    this.#context = context;
  }

  /** Call once, when all of it has been written. */
  measured(): { readonly size: number; readonly sha256: string } {
    return { size: this.#size, sha256: this.#hash.digest('hex') };
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    for await (const piece of this.#source.pieces) {
      this.#size += piece.length;
      if (this.#size > this.#source.size) throw new ToolError('the file grew while it was read');
      for (let start = 0; start < piece.length; start += HASHED_BYTES) {
        this.#hash.update(piece.subarray(start, start + HASHED_BYTES));
        await pauseWhenOver(this.#context);
      }
      yield piece;
    }
    if (this.#size < this.#source.size) throw new ToolError('the file was cut while it was read');
  }
}

/** So many characters are encoded at once. */
const PIECE_LENGTH = 2 ** 18;

export async function* encodeText(text: string): AsyncGenerator<Uint8Array, undefined> {
  for (let start = 0; start < text.length; ) {
    const end = endOfPiece(text, start, PIECE_LENGTH);
    yield Buffer.from(text.slice(start, end));
    start = end;
  }
  return undefined;
}

export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, undefined> {
  yield bytes;
  return undefined;
}
