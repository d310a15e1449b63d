import { type Json, type JsonObject, setOwn } from '../../common/json.js';
import type { Steps } from '../../common/steps.js';

/** About as many characters are parsed in a step: JSON.parse takes up to 100 ns for each. */
const STEP_LENGTH = 16 * 1024;

/**
 * Parses a JSON text as `JSON.parse` does, but in steps: that takes up to 100 ms for 1 MiB, and cannot pause. Long lists
 * and objects are parsed in runs of their members, and each run is left to `JSON.parse`.
 *
 * @param text nested at most a few thousand levels deep
 * @param maxKeys of one object: V8 copies all of them whenever it makes room for more, and that cannot pause
 * @throws SyntaxError
 */
export function* parseJsonInSteps(
  text: string,
  stepLength = STEP_LENGTH,
  maxKeys = Number.POSITIVE_INFINITY,
): Steps<Json> {
  const start = skipSpace(text, 0);
  const kind = text[start];
  if (text.length <= stepLength || (kind !== '[' && kind !== '{')) return parseJson(text);
  const parser = new LongJsonParser(text, start, stepLength, maxKeys);
  while (parser.parseNext()) yield;
  return parser.root;
}

/** A list or an object that is being parsed. */
interface Open {
  readonly value: Json[] | JsonObject;
  readonly isList: boolean;
  /** Its members that were added; a key that is there twice counts twice. */
  members: number;
}

/** Finds where members end. Whether they are valid is left to JSON.parse. */
class LongJsonParser {
  readonly root: Json;
  readonly #text: string;
  readonly #stepLength: number;
  readonly #maxKeys: number;
  readonly #open: Open[] = [];
  #offset: number;

  constructor(text: string, start: number, stepLength: number, maxKeys: number) {
    this.#text = text;
    this.#stepLength = stepLength;
    this.#maxKeys = maxKeys;
    this.#offset = start;
    this.root = this.#enter();
  }

  /** Parses some members of the innermost open value. Returns false at the end of the text. */
  parseNext(): boolean {
    const open = this.#open.at(-1);
    if (open === undefined) return this.#endText();
    const end = this.#findEndOfRun();
    if (end === undefined) this.#addLongMember(open);
    else {
      addRun(open, this.#text.slice(this.#offset, end));
      this.#offset = end;
    }
    if (!open.isList && open.members > this.#maxKeys) {
      throw new SyntaxError(`an object has more than ${this.#maxKeys} keys`);
    }
    if (this.#open.at(-1) === open) this.#endMember();
    return true;
  }

  #enter(): Json[] | JsonObject {
    const isList = this.#text[this.#offset++] === '[';
    const value: Json[] | JsonObject = isList ? [] : {};
    this.#open.push({ value, isList, members: 0 });
    return value;
  }

  /** Returns the offset of the last comma of a step, or of the closing bracket; undefined in a member that is longer. */
  #findEndOfRun(): number | undefined {
    const text = this.#text;
    // However much space there is, the closing bracket behind it is found, so that no value without members seems long.
    const start = this.#skipSpace();
    const limit = start + this.#stepLength;
    let end: number | undefined;
    let depth = 0;
    for (let i = start; i < text.length && i <= limit; i++) {
      switch (text[i]) {
        case '"':
          i = findEndOfString(text, i);
          break;
        case '[':
        case '{':
          depth++;
          break;
        case ']':
        case '}':
          if (depth-- === 0) return i;
          break;
        case ',':
          if (depth === 0) end = i;
          break;
        default:
      }
    }
    return end;
  }

  /** Adds a member whose text is longer than a step: opens a list or an object. */
  #addLongMember(open: Open): void {
    const text = this.#text;
    let key = '';
    if (!open.isList) {
      key = parseJson(this.#takeString()) as string;
      if (text[this.#skipSpace()] !== ':') throw new SyntaxError(`":" expected at ${this.#offset}`);
      this.#offset++;
    }
    const first = text[this.#skipSpace()];
    if (first === '[' || first === '{') addMember(open, key, this.#enter());
    else addMember(open, key, parseJson(first === '"' ? this.#takeString() : this.#takeScalar()));
  }

  #takeString(): string {
    const start = this.#skipSpace();
    this.#offset = findEndOfString(this.#text, start) + 1;
    return this.#text.slice(start, this.#offset);
  }

  #takeScalar(): string {
    const start = this.#offset;
    END_OF_SCALAR.lastIndex = start;
    this.#offset = END_OF_SCALAR.exec(this.#text)?.index ?? this.#text.length;
    return this.#text.slice(start, this.#offset);
  }

  /** Takes the comma after a member; or the closing brackets, and the comma after them. */
  #endMember(): void {
    for (let open = this.#open.at(-1); open !== undefined; open = this.#open.at(-1)) {
      const found = this.#text[this.#skipSpace()];
      this.#offset++;
      if (found === ',' && open.members > 0) return;
      if (found !== (open.isList ? ']' : '}'))
        throw new SyntaxError(`unexpected text at ${this.#offset - 1}`);
      this.#open.pop();
    }
  }

  #endText(): false {
    if (this.#skipSpace() < this.#text.length) throw new SyntaxError(`unexpected text at ${this.#offset}`);
    return false;
  }

  #skipSpace(): number {
    return (this.#offset = skipSpace(this.#text, this.#offset));
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

/** @throws SyntaxError */
function findEndOfString(text: string, start: number): number {
  if (text[start] !== '"') throw new SyntaxError(`a text expected at ${start}`);
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  throw new SyntaxError(`a text without an end at ${start}`);
}
