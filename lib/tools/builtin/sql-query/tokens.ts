import { ToolError } from '../../../common/errors.js';
import { formatNumber } from '../../../common/text.js';
import { SQL_LIMITS } from './limits.js';

/** A part of a statement: blanks and comments, a `:name`, a bare word, a quoted name, a text, or any other character. */
export interface Token {
  readonly kind: 'blank' | 'param' | 'word' | 'quoted' | 'text' | 'other';
  readonly text: string;
}

/** How a database writes statements, as far as it decides where a `:name` may stand. */
export interface Dialect {
  readonly name: 'PostgreSQL' | 'MySQL' | 'SQLite' | 'DuckDB';
  /** The first letter of a placeholder. */
  readonly placeholder: '$' | '?';
  /** True when placeholders have numbers, so that a name may stand several times. */
  readonly numbersParams: boolean;
  readonly hasDollarQuotes: boolean;
  readonly nestsComments: boolean;
  /** In every text; where it is false, still in those that begin with E. */
  readonly hasBackslashes: boolean;
  readonly hasHashComments: boolean;
  readonly hasBackticks: boolean;
  readonly hasBrackets: boolean;
}

const STANDARD = {
  placeholder: '$',
  numbersParams: true,
  hasDollarQuotes: true,
  nestsComments: true,
  hasBackslashes: false,
  hasHashComments: false,
  hasBackticks: false,
  hasBrackets: false,
} as const;

export const POSTGRES: Dialect = { ...STANDARD, name: 'PostgreSQL' };
export const DUCKDB: Dialect = { ...STANDARD, name: 'DuckDB' };
export const SQLITE: Dialect = {
  ...STANDARD,
  name: 'SQLite',
  placeholder: '?',
  hasDollarQuotes: false,
  nestsComments: false,
  hasBackticks: true,
  hasBrackets: true,
};
export const MYSQL: Dialect = {
  ...STANDARD,
  name: 'MySQL',
  placeholder: '?',
  numbersParams: false,
  hasDollarQuotes: false,
  nestsComments: false,
  hasBackslashes: true,
  hasHashComments: true,
  hasBackticks: true,
};

const BLANKS = /[\s\uFEFF]+/y;
const LINE_COMMENT = /--[^\n]*/y;
/** Of MySQL, where `a--1` is a difference. */
const SPACED_LINE_COMMENT = /--(?=\s|$)[^\n]*/y;
const HASH_COMMENT = /#[^\n]*/y;
const TEXT = /'(?:[^']|'')*'/y;
const ESCAPED_TEXT = /'(?:[^'\\]|\\[^]|'')*'/y;
const NAME = /"(?:[^"]|"")*"/y;
const ESCAPED_NAME = /"(?:[^"\\]|\\[^]|"")*"/y;
const BACKTICKS = /`(?:[^`]|``)*`/y;
const BRACKETS = /\[[^\]]*\]/y;
const DOLLAR_QUOTE = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;
const WORD = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y;
const NUMBER = /\.?\d[\w.]*/y;
const PARAM = /:[A-Za-z_]\w*/y;
const CAST = /::|:=/y;
const NATIVE = /[$@:]\w+|\?\d*/y;

/** Divides a statement into tokens. @param place for messages @throws ToolError, not retryable */
export function readTokens(text: string, dialect: Dialect, place: string): Token[] {
  if (text.length > SQL_LIMITS.statementLength) {
    const most = formatNumber(SQL_LIMITS.statementLength);
    throw ToolError.nonRetryable(`${place} has more than ${most} characters, the maximum`);
  }
  if (text.includes('\0')) throw ToolError.nonRetryable(`${place} has a NUL character`);
  return [...new Tokenizer(text, dialect, place).read()];
}

class Tokenizer {
  readonly #text: string;
  readonly #dialect: Dialect;
  readonly #place: string;
  #at = 0;

  constructor(text: string, dialect: Dialect, place: string) {
    this.#text = text;
    this.#dialect = dialect;
    this.#place = place;
  }

  *read(): Generator<Token> {
    while (this.#at < this.#text.length) {
      const token = this.#next();
      this.#at += token.text.length;
      yield token;
    }
  }

  #next(): Token {
    return (
      this.#blank() ??
      this.#quoted() ??
      this.#token('other', CAST) ??
      this.#token('param', PARAM) ??
      this.#token('word', WORD) ??
      this.#token('other', NUMBER) ??
      this.#native() ?? { kind: 'other', text: this.#text.charAt(this.#at) }
    );
  }

  #blank(): Token | undefined {
    const { hasHashComments, name } = this.#dialect;
    if (this.#text.startsWith('/*', this.#at)) return { kind: 'blank', text: this.#blockComment() };
    return (
      this.#token('blank', BLANKS) ??
      this.#token('blank', name === 'MySQL' ? SPACED_LINE_COMMENT : LINE_COMMENT) ??
      (hasHashComments ? this.#token('blank', HASH_COMMENT) : undefined)
    );
  }

  #blockComment(): string {
    const marks = /\/\*|\*\//g;
    marks.lastIndex = this.#at;
    let depth = 0;
    for (let mark = marks.exec(this.#text); mark !== null; mark = marks.exec(this.#text)) {
      if (mark[0] === '*/') depth--;
      else if (depth === 0 || this.#dialect.nestsComments) depth++;
      if (depth === 0) return this.#text.slice(this.#at, marks.lastIndex);
    }
    throw this.#unended('a comment');
  }

  #quoted(): Token | undefined {
    const { hasBackslashes, hasBackticks, hasBrackets, hasDollarQuotes } = this.#dialect;
    switch (this.#text.charAt(this.#at)) {
      case "'":
        return this.#ended('text', hasBackslashes ? ESCAPED_TEXT : TEXT, 'a text');
      case 'E':
      case 'e': {
        if (hasBackslashes || this.#text.charAt(this.#at + 1) !== "'" || !hasDollarQuotes) return undefined;
        ESCAPED_TEXT.lastIndex = this.#at + 1;
        const rest = ESCAPED_TEXT.exec(this.#text)?.[0];
        if (rest === undefined) throw this.#unended('a text');
        return { kind: 'text', text: this.#text.charAt(this.#at) + rest };
      }
      case '"':
        return this.#ended(
          hasBackslashes ? 'text' : 'quoted',
          hasBackslashes ? ESCAPED_NAME : NAME,
          'a name',
        );
      case '`':
        return hasBackticks ? this.#ended('quoted', BACKTICKS, 'a name') : undefined;
      case '[':
        return hasBrackets ? this.#ended('quoted', BRACKETS, 'a name') : undefined;
      case '$':
        return hasDollarQuotes ? this.#dollarQuote() : undefined;
      default:
        return undefined;
    }
  }

  #dollarQuote(): Token | undefined {
    const quote = this.#match(DOLLAR_QUOTE);
    if (quote === undefined) return undefined;
    const end = this.#text.indexOf(quote, this.#at + quote.length);
    if (end < 0) throw this.#unended('a text');
    return { kind: 'text', text: this.#text.slice(this.#at, end + quote.length) };
  }

  /** Placeholders of the database itself would take the values of others. */
  #native(): Token | undefined {
    const written = this.#match(NATIVE);
    if (written === undefined) return undefined;
    const { name } = this.#dialect;
    // An operator of PostgreSQL, variables of MySQL, and parts of lists.
    if (written.startsWith('?') ? name === 'PostgreSQL' : /^(?:@|:\d)/.test(written) && name !== 'SQLite')
      return { kind: 'other', text: written };
    throw ToolError.nonRetryable(
      `${this.#place} has the placeholder ${written}: write :name, and its value in "params"`,
    );
  }

  #ended(kind: Token['kind'], pattern: RegExp, what: string): Token {
    const token = this.#token(kind, pattern);
    if (token === undefined) throw this.#unended(what);
    return token;
  }

  #token(kind: Token['kind'], pattern: RegExp): Token | undefined {
    const text = this.#match(pattern);
    return text === undefined ? undefined : { kind, text };
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0];
  }

  #unended(what: string): ToolError {
    return ToolError.nonRetryable(
      `${this.#place} has ${what} that does not end, at character ${this.#at + 1}`,
    );
  }
}
