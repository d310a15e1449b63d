import { ToolError } from '../../../common/errors.js';
import type { Json } from '../../../common/json.js';
import { MAX_ARTIFACT_BYTES } from '../../../common/limits.js';
import type { Steps } from '../../../common/steps.js';
import { formatMebibytes } from '../../../common/text.js';

/** A step ends after so many pieces or characters. */
const PIECES_PER_STEP = 1000;
const CHARACTERS_PER_STEP = 128 * 1024;

/** A list or an object of which some members are written. */
interface OpenValue {
  readonly members: readonly Json[];
  /** Undefined for a list. */
  readonly keys: readonly string[] | undefined;
  /** The line break and the indentation before each member. */
  readonly start: string;
  /** What follows the last member. */
  readonly end: string;
  written: number;
}

/**
 * Writes JSON as `JSON.stringify` with an indent of 2 does. Indentation may multiply the length: of lists that are 490
 * deep it makes 484 times as much.
 *
 * @throws ToolError, not retryable, as soon as the text is longer than a file may be
 */
export function* toJsonTextInSteps(data: Json): Steps<string> {
  const text = new BoundedText();
  const open: OpenValue[] = [];
  text.add(begin(data, open));
  for (let value = open.at(-1); value !== undefined; value = open.at(-1)) {
    const { members, keys, start, end } = value;
    const index = value.written++;
    if (index === members.length) {
      open.pop();
      text.add(end);
    } else {
      const key = keys === undefined ? '' : `${JSON.stringify(keys[index])}: `;
      text.add(`${index === 0 ? '' : ','}${start}${key}${begin(members[index] ?? null, open)}`);
    }
    if (text.flush()) yield;
  }
  return text.toString();
}

/** Returns the text with which a value begins: all of it, unless it has members; it is open then. */
function begin(value: Json, open: OpenValue[]): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const members = isList ? value : Object.values(value);
  if (members.length === 0) return isList ? '[]' : '{}';
  const outer = `\n${'  '.repeat(open.length)}`;
  const keys = isList ? undefined : Object.keys(value);
  open.push({ members, keys, start: `${outer}  `, end: `${outer}${isList ? ']' : '}'}`, written: 0 });
  return isList ? '[' : '{';
}

/** A text that is made of many pieces, which must not take much more memory than the text itself. */
class BoundedText {
  readonly #parts: string[] = [];
  #pieces: string[] = [];
  #length = 0;
  #flushedLength = 0;

  /** @throws ToolError, not retryable */
  add(piece: string): void {
    this.#length += piece.length;
    this.#pieces.push(piece);
    if (this.#length <= MAX_ARTIFACT_BYTES) return;
    throw ToolError.nonRetryable(
      `the text is longer than ${formatMebibytes(MAX_ARTIFACT_BYTES)}: export less, or in several files`,
    );
  }

  /** Joins the last pieces, unless they are few; true when it did. */
  flush(): boolean {
    const isFew = this.#pieces.length < PIECES_PER_STEP;
    if (isFew && this.#length - this.#flushedLength < CHARACTERS_PER_STEP) return false;
    this.#parts.push(this.#pieces.join(''));
    this.#pieces = [];
    this.#flushedLength = this.#length;
    return true;
  }

  toString(): string {
    return [...this.#parts, ...this.#pieces].join('');
  }
}
