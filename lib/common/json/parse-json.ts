import { type Json, type JsonObject, setOwn } from './json.js';
import type { Steps } from '../scheduling/steps.js';

/** About as many characters are parsed in a step: JSON.parse takes up to 100 ns for each. */
const STEP_LENGTH = 16 * 1024;

/** Of one text, so many times more are parsed in a step: JSON.parse takes up to 4 ns for each. */
const TEXT_STEPS = 4;

/** An escape has at most so many characters. */
const ESCAPE_LENGTH = 6;

/**
 * Parses a JSON text as `JSON.parse` does, but in steps: that takes up to 100 ms for 1 MiB, and cannot pause. Long lists
 * and objects are parsed in runs of their members, and long texts in pieces; each is left to `JSON.parse`.
 *
 * @param json nested at most a few thousand levels deep; as a list, its pieces, which are never joined: memory for a long
 *   text takes a millisecond for each megabyte
 * @param maxKeys of one object: V8 copies all of them whenever it makes room for more, and that cannot pause
 * @throws SyntaxError
 */
export function* parseJsonInSteps(
  json: string | readonly string[],
  stepLength = STEP_LENGTH,
  maxKeys = Number.POSITIVE_INFINITY,
): Steps<Json> {
  const pieces = typeof json === 'string' ? [json] : json;
  const [first = ''] = pieces;
  if (pieces.length <= 1 && first.length <= stepLength) return parseJson(first);
  return yield* new LongJsonParser(pieces, stepLength, maxKeys).parse();
}

/** A list or an object that is being parsed. */
interface Open {
  readonly value: Json[] | JsonObject;
  readonly isList: boolean;
  /** Number of members that were added; a key that is there twice counts twice. */
  members: number;
}

/** Finds where members end. JSON.parse then checks that they are valid. */
class LongJsonParser {
  readonly #pieces: readonly string[];
  readonly #stepLength: number;
  readonly #maxKeys: number;
  readonly #open: Open[] = [];
  /** The pieces that were taken, without those that were parsed. */
  #text = '';
  #offset = 0;
  #taken = 0;

  constructor(pieces: readonly string[], stepLength: number, maxKeys: number) {
    this.#pieces = pieces;
    this.#stepLength = stepLength;
    this.#maxKeys = maxKeys;
  }

  *parse(): Steps<Json> {
    const first = this.#firstCharacter();
    const root = first === '[' || first === '{' ? yield* this.#parseRoot() : yield* this.#parseScalar(first);
    if (this.#firstCharacter() !== undefined) throw new SyntaxError(`unexpected text at ${this.#offset}`);
    return root;
  }

  *#parseScalar(first: string | undefined): Steps<Json> {
    return first === '"' ? yield* this.#parseText() : parseJson(this.#takeScalar());
  }

  *#parseRoot(): Steps<Json> {
    const root = this.#enter();
    for (let open = this.#open.at(-1); open !== undefined; open = this.#open.at(-1)) {
      const end = this.#findEndOfRun();
      if (end === undefined) yield* this.#addLongMember(open);
      else {
        addRun(open, this.#text.slice(this.#offset, end));
        this.#offset = end;
      }
      if (!open.isList && open.members > this.#maxKeys) {
        throw new SyntaxError(`an object has more than ${this.#maxKeys} keys`);
      }
      if (this.#open.at(-1) === open) this.#endMember();
      yield;
    }
    return root;
  }

  #enter(): Json[] | JsonObject {
    const isList = this.#text[this.#offset++] === '[';
    const value: Json[] | JsonObject = isList ? [] : {};
    this.#open.push({ value, isList, members: 0 });
    return value;
  }

  /** Returns the offset of the last comma of a step, or of the closing bracket; undefined in a member that is longer. */
  #findEndOfRun(): number | undefined {
    // However much space there is, the closing bracket behind it is found, so that no value without members seems long.
    this.#firstCharacter();
    this.#take(this.#stepLength + 1);
    const text = this.#text.slice(this.#offset, this.#offset + this.#stepLength + 1);
    let end: number | undefined;
    let depth = 0;
    for (let i = 0; i < text.length; i++) {
      const character = text[i];
      if (character === '"') {
        i = findEndOfText(text, i + 1);
        if (i === -1) return end;
      } else if (character === '[' || character === '{') depth++;
      else if (character === ']' || character === '}') {
        if (depth-- === 0) return this.#offset + i;
      } else if (character === ',' && depth === 0) end = this.#offset + i;
    }
    return end;
  }

  /** Adds a member whose text is longer than a step: opens a list or an object. */
  *#addLongMember(open: Open): Steps<void> {
    let key = '';
    if (!open.isList) {
      key = yield* this.#parseText();
      if (this.#firstCharacter() !== ':') throw new SyntaxError(`":" expected at ${this.#offset}`);
      this.#offset++;
    }
    const first = this.#firstCharacter();
    if (first === '[' || first === '{') addMember(open, key, this.#enter());
    else addMember(open, key, yield* this.#parseScalar(first));
  }

  /** Parses a text in pieces, of which none ends within an escape. */
  *#parseText(): Steps<string> {
    if (this.#firstCharacter() !== '"') throw new SyntaxError(`a text expected at ${this.#offset}`);
    this.#offset++;
    const longest = Math.max(this.#stepLength * TEXT_STEPS, ESCAPE_LENGTH * 2);
    let text = '';
    for (;;) {
      this.#take(longest);
      const piece = this.#text.slice(this.#offset, this.#offset + longest);
      const end = findEndOfText(piece, 0);
      const length = end === -1 ? startOfLastEscape(piece) : end;
      text += parseJson(`"${piece.slice(0, length)}"`) as string;
      this.#offset += length;
      if (end !== -1) break;
      if (length === 0) throw new SyntaxError('a text without an end');
      yield;
    }
    this.#offset++;
    return text;
  }

  #takeScalar(): string {
    for (;;) {
      END_OF_SCALAR.lastIndex = this.#offset;
      const end = END_OF_SCALAR.exec(this.#text)?.index;
      if (end === undefined && this.#takePiece()) continue;
      const start = this.#offset;
      this.#offset = end ?? this.#text.length;
      return this.#text.slice(start, this.#offset);
    }
  }

  /** Takes the comma after a member; or the closing brackets, and the comma after them. */
  #endMember(): void {
    for (let open = this.#open.at(-1); open !== undefined; open = this.#open.at(-1)) {
      const found = this.#firstCharacter();
      this.#offset++;
      if (found === ',' && open.members > 0) return;
      if (found !== (open.isList ? ']' : '}'))
        throw new SyntaxError(`unexpected text at ${this.#offset - 1}`);
      this.#open.pop();
    }
  }

  /** Skips space. Returns the character after it; undefined at the end of the text. */
  #firstCharacter(): string | undefined {
    do this.#offset = skipSpace(this.#text, this.#offset);
    while (this.#offset === this.#text.length && this.#takePiece());
    return this.#text[this.#offset];
  }

  /** Takes pieces until so many characters can be read, or all. */
  #take(length: number): void {
    while (this.#text.length - this.#offset < length && this.#takePiece());
  }

  #takePiece(): boolean {
    const piece = this.#pieces[this.#taken];
    if (piece === undefined) return false;
    this.#taken++;
    this.#text = this.#text.slice(this.#offset) + piece;
    this.#offset = 0;
    return true;
  }
}

/** Adds one or more members; or none, when the value is empty. */
function addRun(open: Open, run: string): void {
  const members = parseJson(open.isList ? `[${run}]` : `{${run}}`) as Json[] | JsonObject;
  const keys = Object.keys(members);
  if (keys.length === 0 && open.members > 0) throw new SyntaxError('a comma without a member after it');
  for (const key of keys) addMember(open, key, (members as JsonObject)[key] as Json);
}

function addMember(open: Open, key: string, value: Json): void {
  open.members++;
  if (open.isList) (open.value as Json[]).push(value);
  else setOwn(open.value, key, value);
}

function parseJson(text: string): Json {
  return JSON.parse(text) as Json;
}

const SPACE = /[ \t\n\r]*/y;
const END_OF_SCALAR = /[,\]}]/g;

function skipSpace(text: string, offset: number): number {
  SPACE.lastIndex = offset;
  SPACE.exec(text);
  return SPACE.lastIndex;
}

/** Returns the offset of the quote that ends a text; -1 when there is none. */
function findEndOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end !== -1; end = text.indexOf('"', end + 1)) {
    if (backslashesBefore(text, start, end) % 2 === 0) return end;
  }
  return -1;
}

/** Returns where an escape starts that may be incomplete at the end of a piece; the length of the piece without one. */
function startOfLastEscape(piece: string): number {
  const start = piece.lastIndexOf('\\');
  if (start < 0 || start < piece.length - ESCAPE_LENGTH) return piece.length;
  return backslashesBefore(piece, 0, start) % 2 === 0 ? start : piece.length;
}

function backslashesBefore(text: string, start: number, end: number): number {
  let count = 0;
  while (end - 1 - count >= start && text[end - 1 - count] === '\\') count++;
  return count;
}
