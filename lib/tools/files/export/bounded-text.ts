import { ToolError } from '../../../common/errors.js';
import { MAX_ARTIFACT_BYTES } from '../../../common/limits.js';
import { formatMebibytes } from '../../../common/text.js';

/** A step ends after so many pieces or letters. */
const PIECES_PER_STEP = 1000;
export const LETTERS_PER_STEP = 64 * 1024;

const TOO_LONG = `the text is longer than ${formatMebibytes(MAX_ARTIFACT_BYTES)}: export less, or in several files`;

/** A text that is made of many pieces, which must not take much more memory than the text itself. */
export class BoundedText {
  readonly #maxLength: number;
  readonly #refusal: string;
  readonly #parts: string[] = [];
  #pieces: string[] = [];
  #length = 0;
  #flushedLength = 0;

  /** @param refusal what is said of a longer text */
  constructor(maxLength: number = MAX_ARTIFACT_BYTES, refusal = TOO_LONG) {
    this.#maxLength = maxLength;
    this.#refusal = refusal;
  }

  /** @throws ToolError, not retryable */
  add(piece: string): void {
    this.#length += piece.length;
    if (this.#length > this.#maxLength) throw ToolError.nonRetryable(this.#refusal);
    this.#pieces.push(piece);
  }

  /** Joins the last pieces, unless they are few; true when it did. */
  flush(): boolean {
    const isFew = this.#pieces.length < PIECES_PER_STEP;
    if (isFew && this.#length - this.#flushedLength < LETTERS_PER_STEP) return false;
    this.#parts.push(this.#pieces.join(''));
    this.#pieces = [];
    this.#flushedLength = this.#length;
    return true;
  }

  toString(): string {
    return [...this.#parts, ...this.#pieces].join('');
  }
}

/** A longer text is looked at and written in pieces. */
const LETTERS_PER_PIECE = 16 * 1024;

export function isLongText(value: unknown): value is string {
  return typeof value === 'string' && value.length > LETTERS_PER_PIECE;
}

/** The two halves of a letter, and those of a line break, stay together. */
const PAIR = /^(?:[\ud800-\udbff][\udc00-\udfff]|\r\n)$/;

/** Cuts a text into pieces, each of which can be escaped on its own. */
export function* piecesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    let end = start + LETTERS_PER_PIECE;
    if (PAIR.test(text.slice(end - 1, end + 1))) end++;
    yield text.slice(start, end);
    start = end;
  }
}
