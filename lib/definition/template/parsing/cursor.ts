import type { TemplateProblem } from '../expressions/expression.js';

/** Thrown and caught within the parser. */
export class TemplateSyntaxError extends Error {
  override readonly name = 'TemplateSyntaxError';
  readonly problem: TemplateProblem;
  /** Where the parser looks for the next template. */
  readonly resume: number;

  constructor(problem: TemplateProblem, resume: number) {
    super(problem.message);
    this.problem = problem;
    this.resume = resume;
  }
}

/** Longest text between two braces: it is parsed in one go. */
const MAX_LENGTH = 64 * 1024;

const ASCII_WORD = /[\w$-]*/y;
const LAST_ASCII = 0x7f;
/** Compiled when it is first used: that takes longer than the rest of a short definition. */
const WORD = /[\p{L}\p{M}\p{N}\w$-]*/uy;
const SPACE = /\s/;
const BACKSLASH = 92;
const NEWLINE = 10;

/** A position in a text; reads the tokens there. */
export class Cursor {
  readonly text: string;
  /** Where the current template opens. */
  readonly start: number;
  at: number;

  constructor(text: string, start: number) {
    this.text = text;
    this.start = start;
    this.at = start;
  }

  /** The current character; empty at the end of the text. */
  get char(): string {
    return this.text.charAt(this.at);
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  startsWith(token: string): boolean {
    return this.text.startsWith(token, this.at);
  }

  /** Skips the token if it is next, and returns whether it was. */
  take(token: string): boolean {
    const isNext = this.startsWith(token);
    if (isNext) this.at += token.length;
    return isNext;
  }

  skipSpace(): void {
    while (!this.isAtEnd && SPACE.test(this.char)) this.at++;
  }

  /** Reads letters of any script, digits, `_`, `-` and `$`. */
  takeWord(): string {
    const { at } = this;
    const word = this.takeMatch(ASCII_WORD);
    if (!(this.text.charCodeAt(this.at) > LAST_ASCII)) return word;
    this.at = at;
    return this.takeMatch(WORD);
  }

  peekWord(): string {
    const { at } = this;
    const word = this.takeWord();
    this.at = at;
    return word;
  }

  /** Reads what the sticky `pattern` matches; empty when it does not match. */
  takeMatch(pattern: RegExp): string {
    const start = this.at;
    pattern.lastIndex = start;
    if (pattern.test(this.text)) this.at = pattern.lastIndex;
    return this.text.slice(start, this.at);
  }

  /** Reads a quoted string with JSON escapes; single quotes also allow `\'`. */
  takeQuoted(): string {
    const start = this.at;
    const end = this.#closingQuote();
    if (end < 0) this.fail('a quoted string is not closed on its line');
    this.at = end + 1;
    const body = this.text.slice(start + 1, end);
    try {
      return String(JSON.parse(`"${this.text[start] === "'" ? inDoubleQuotes(body) : body}"`));
    } catch {
      const message = 'a quoted string contains an invalid escape or a control character';
      return this.fail(message, 'use JSON escapes', start);
    }
  }

  /**
   * Returns the position of the closing quote; -1 when the line has none. Parsing stays linear: a quote that does not
   * close is scanned at most once per line and kind of quote, because a later quote on that line would have closed it.
   */
  #closingQuote(): number {
    const quote = this.text.charCodeAt(this.at);
    for (let at = this.at + 1; at < this.text.length; at++) {
      const code = this.text.charCodeAt(at);
      if (code === quote) return at;
      if (code === NEWLINE) return -1;
      if (code === BACKSLASH) at++;
    }
    return -1;
  }

  /** Fails when the template is longer than a template may be. @throws TemplateSyntaxError */
  limitLength(): void {
    if (this.at - this.start > MAX_LENGTH)
      this.fail(`a template is longer than ${MAX_LENGTH / 1024} KiB`, undefined, this.start);
  }

  /** Gives up this template. The parser looks for the next one from here. @throws TemplateSyntaxError */
  fail(message: string, hint?: string, offset = this.at): never {
    const problem = { message, offset, start: this.start, ...(hint === undefined ? {} : { hint }) };
    throw new TemplateSyntaxError(problem, this.at);
  }
}

function inDoubleQuotes(body: string): string {
  return body.replace(/\\[^]|"/g, (token) => (token === "\\'" ? "'" : token === '"' ? '\\"' : token));
}
