import type { TemplateProblem } from './expression.js';

/** Thrown inside the parser only: what is wrong with a template, and where the search for the next one goes on. */
export class SyntaxFault extends Error {
  override readonly name = 'SyntaxFault';
  readonly problem: TemplateProblem;
  readonly resume: number;

  constructor(problem: TemplateProblem, resume: number) {
    super(problem.message);
    this.problem = problem;
    this.resume = resume;
  }
}

const ASCII_NAME = /[\w$-]/;
const OTHER_NAME = /[\p{L}\p{M}\p{N}]/u;
const SPACE = /\s/;
const BACKSLASH = 92;
const NEWLINE = 10;

/** A position in a text, and the tokens that can be read there. */
export class Cursor {
  readonly text: string;
  /** Where the template being read opens. */
  readonly start: number;
  at: number;

  constructor(text: string, start: number) {
    this.text = text;
    this.start = start;
    this.at = start;
  }

  /** The character here; empty at the end of the text. */
  get char(): string {
    return this.text.charAt(this.at);
  }

  get ended(): boolean {
    return this.at >= this.text.length;
  }

  sees(token: string): boolean {
    return this.text.startsWith(token, this.at);
  }

  take(token: string): boolean {
    const seen = this.sees(token);
    if (seen) this.at += token.length;
    return seen;
  }

  skipSpace(): void {
    while (!this.ended && SPACE.test(this.char)) this.at++;
  }

  /** Letters of any script, digits, `_`, `-` and `$`, as many as there are. */
  takeWord(): string {
    const word = this.peekWord();
    this.at += word.length;
    return word;
  }

  peekWord(): string {
    let end = this.at;
    for (let width = this.#nameWidth(end); width > 0; width = this.#nameWidth(end)) end += width;
    return this.text.slice(this.at, end);
  }

  /** How many units of the text the character at `at` of a name takes; 0 when it cannot stand in a name. */
  #nameWidth(at: number): number {
    const code = this.text.codePointAt(at);
    if (code === undefined) return 0;
    const character = String.fromCodePoint(code);
    return (code < 128 ? ASCII_NAME : OTHER_NAME).test(character) ? character.length : 0;
  }

  /** What the sticky `pattern` matches here; empty when it does not. */
  takeMatch(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text)?.[0] ?? '';
    this.at += match.length;
    return match;
  }

  /** A text in quotes, with JSON's escapes; in single quotes `\'` is one too. */
  takeQuoted(): string {
    const start = this.at;
    const end = this.#closingQuote();
    if (end < 0) this.fail('a quoted text is never closed on its line');
    this.at = end + 1;
    const body = this.text.slice(start + 1, end);
    try {
      return String(JSON.parse(`"${this.text[start] === "'" ? inDoubleQuotes(body) : body}"`));
    } catch {
      return this.fail(
        'a quoted text holds a bad escape or a control character',
        'use the escapes of JSON',
        start,
      );
    }
  }

  /**
   * A quote that fails to close is read at most once per line and kind of quote, for a later one on that line
   * would have closed it: this is why parsing stays linear.
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

  /** Gives this template up: the search for the next one goes on from here. */
  fail(message: string, hint?: string, offset = this.at): never {
    throw new SyntaxFault({ message, offset, ...(hint === undefined ? {} : { hint }) }, this.at);
  }
}

function inDoubleQuotes(body: string): string {
  return body.replace(/\\[^]|"/g, (token) => (token === "\\'" ? "'" : token === '"' ? '\\"' : token));
}
