import { runToEnd, type Steps } from '../../common/scheduling/steps.js';

/** Where a text stops being JSON, and what was expected there. */
export interface JsonSyntaxError {
  readonly offset: number;
  readonly expected: string;
}

type Expecting = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'comma' | 'end';

const WORDS: Record<Expecting, string> = {
  value: 'a value: "text" in double quotes, a number, true, false, null, a list or an object',
  'value or ]': 'a value, or "]"',
  key: 'a key in double quotes',
  'key or }': 'a key in double quotes, or "}"',
  colon: '":" after the key',
  comma: '"," or the closing bracket',
  end: 'nothing more',
};

// oxlint-disable-next-line no-control-regex -- JSON strings cannot contain control characters
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y;

/** Finds the first syntax error in a JSON text; undefined when there is none. `JSON.parse` often omits the position. */
export function findJsonSyntaxError(text: string): JsonSyntaxError | undefined {
  return runToEnd(findJsonSyntaxErrorInSteps(text));
}

/** Parts of a text that are read in one step. */
const STEP_PARTS = 4096;

/** Finds like `findJsonSyntaxError`. */
export function* findJsonSyntaxErrorInSteps(text: string): Steps<JsonSyntaxError | undefined> {
  const scanner = new JsonScanner(text);
  for (let parts = 1; scanner.readNext(); parts++) if (parts % STEP_PARTS === 0) yield;
  const { offset, expecting } = scanner;
  return expecting === 'end' && offset === text.length ? undefined : { offset, expected: WORDS[expecting] };
}

/** Reads the parts of a JSON text: brackets, commas, colons, strings and other scalars. */
export class JsonScanner {
  /** Where the next part begins. */
  offset: number;
  /** `end` after the value. */
  expecting: Expecting = 'value';
  readonly #text: string;
  readonly #open: string[] = [];

  constructor(text: string, start = 0) {
    this.#text = text;
    this.offset = start;
    this.#skipSpace();
  }

  /** Returns false after the value, and where the text is not JSON. */
  readNext(): boolean {
    const isRead = this.#readPart();
    if (isRead) this.#skipSpace();
    return isRead;
  }

  #readPart(): boolean {
    const character = this.#text[this.offset];
    switch (this.expecting) {
      case 'value or ]':
        return character === ']' ? this.#close() : this.#readValue(character);
      case 'value':
        return this.#readValue(character);
      case 'key or }':
        return character === '}' ? this.#close() : this.#skipTo('colon', skipString(this.#text, this.offset));
      case 'key':
        return this.#skipTo('colon', skipString(this.#text, this.offset));
      case 'colon':
        return character === ':' && this.#skipTo('value', this.offset + 1);
      case 'comma':
        if (character === this.#open.at(-1)) return this.#close();
        if (character !== ',') return false;
        return this.#skipTo(this.#open.at(-1) === '}' ? 'key' : 'value', this.offset + 1);
      case 'end':
        return false;
    }
  }

  #readValue(character: string | undefined): boolean {
    if (character === '{' || character === '[') return this.#enter(character === '{');
    const end = skipString(this.#text, this.offset) ?? skip(SCALAR, this.#text, this.offset);
    return this.#skipTo(this.#afterValue(), end);
  }

  #enter(isObject: boolean): boolean {
    this.#open.push(isObject ? '}' : ']');
    return this.#skipTo(isObject ? 'key or }' : 'value or ]', this.offset + 1);
  }

  #close(): boolean {
    this.#open.pop();
    return this.#skipTo(this.#afterValue(), this.offset + 1);
  }

  #afterValue(): Expecting {
    return this.#open.length === 0 ? 'end' : 'comma';
  }

  /** @param offset undefined when the part that is expected is not there */
  #skipTo(expecting: Expecting, offset: number | undefined): boolean {
    if (offset === undefined) return false;
    this.offset = offset;
    this.expecting = expecting;
    return true;
  }

  #skipSpace(): void {
    while (isSpace(this.#text.charCodeAt(this.offset))) this.offset++;
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d;
}

function skip(pattern: RegExp, text: string, offset: number): number | undefined {
  pattern.lastIndex = offset;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** Matches a string in pieces: one pattern for all of it would need as much stack as the string is long. */
function skipString(text: string, start: number): number | undefined {
  if (text[start] !== '"') return undefined;
  let offset = skip(PLAIN, text, start + 1) ?? start + 1;
  while (text[offset] === '\\') {
    const next = skip(ESCAPE, text, offset);
    if (next === undefined) return undefined;
    offset = skip(PLAIN, text, next) ?? next;
  }
  return text[offset] === '"' ? offset + 1 : undefined;
}
