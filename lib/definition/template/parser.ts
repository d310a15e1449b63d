import { Cursor, SyntaxFault } from './cursor.js';
import type { Expression, Segment, TemplatePart, TemplateProblem } from './expression.js';
import { readLiteral } from './literal.js';
import {
  failAfterExpression,
  failAtBracket,
  failAtDot,
  failAtLiteral,
  failAtStart,
} from './syntax-errors.js';

export type { Expression, Segment, TemplatePart, TemplateProblem } from './expression.js';

type ParsedTemplate =
  /** `whole`: the text is exactly one template, so its value keeps its type (D10). */
  | { readonly ok: true; readonly parts: readonly TemplatePart[]; readonly whole: boolean }
  | { readonly ok: false; readonly problems: readonly TemplateProblem[] };

/** Past this many problems in one text nobody reads on. */
const PROBLEM_LIMIT = 100;

/**
 * Parses a text of the definition: the only place where templates come from (D14).
 *
 * `\{{` is a literal `{{`; two backslashes before `{{` are one backslash and a template. Lone `{` and `}}` are text.
 * All problems are reported, up to 100. Takes time linear in the text, and never throws.
 *
 * @returns undefined when the text holds no template and no escape: it stands for itself.
 */
export function parseTemplate(text: string): ParsedTemplate | undefined {
  const first = text.indexOf('{{');
  return first < 0 ? undefined : new TemplateReader(text).read(first);
}

class TemplateReader {
  readonly #text: string;
  readonly #lastClose: number;
  readonly #parts: TemplatePart[] = [];
  readonly #problems: TemplateProblem[] = [];
  #plain = '';
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#lastClose = text.lastIndexOf('}}');
  }

  read(first: number): ParsedTemplate {
    for (let open = first; open >= 0; open = this.#text.indexOf('{{', this.#at)) {
      if (this.#problems.length === PROBLEM_LIMIT) break;
      if (this.#takePlain(open)) this.#takeEscaped(open);
      else this.#takeTemplate(open);
    }
    if (this.#problems.length > 0) return { ok: false, problems: this.#problems };
    this.#plain += this.#text.slice(this.#at);
    this.#endPlain();
    return {
      ok: true,
      parts: this.#parts,
      whole: this.#parts.length === 1 && typeof this.#parts[0] !== 'string',
    };
  }

  /** Takes the text before a `{{`, and says whether backslashes escape it. */
  #takePlain(open: number): boolean {
    let start = open;
    while (start > this.#at && this.#text[start - 1] === '\\') start--;
    const backslashes = open - start;
    this.#plain += this.#text.slice(this.#at, start) + '\\'.repeat(backslashes >> 1);
    return backslashes % 2 === 1;
  }

  #takeEscaped(open: number): void {
    this.#plain += '{{';
    this.#at = open + 2;
  }

  #takeTemplate(open: number): void {
    if (open > this.#lastClose) {
      this.#problems.push({ message: 'a template is never closed', hint: UNCLOSED_HINT, offset: open });
      this.#at = this.#text.length;
      return;
    }
    this.#endPlain();
    const cursor = new Cursor(this.#text, open);
    try {
      this.#parts.push(readExpression(cursor));
      this.#at = cursor.at;
    } catch (fault) {
      if (!(fault instanceof SyntaxFault)) throw fault;
      this.#problems.push(fault.problem);
      this.#at = Math.max(fault.resume, open + 2);
    }
  }

  #endPlain(): void {
    if (this.#plain !== '') this.#parts.push(this.#plain);
    this.#plain = '';
  }
}

const UNCLOSED_HINT = 'close it with "}}", or write "\\{{" for two plain braces';

/** Reads `{{ path }}` or `{{ path ?? literal }}`, braces included. Throws a SyntaxFault. */
function readExpression(cursor: Cursor): Expression {
  cursor.take('{{');
  const { root, path } = readPath(cursor);
  const fallback = readFallback(cursor);
  const end = cursor.at;
  if (!cursor.take('}}')) failAfterExpression(cursor, fallback !== undefined);
  const source = cursor.text.slice(cursor.start + 2, end).trim();
  return { source, root, path, fallback, offset: cursor.start };
}

function readFallback(cursor: Cursor): Expression['fallback'] {
  cursor.skipSpace();
  if (!cursor.take('??')) return undefined;
  cursor.skipSpace();
  const value = readLiteral(cursor);
  cursor.skipSpace();
  return { value };
}

const INDEX = /-?(?:0|[1-9]\d*)(?![\w$.-])/y;
const DIGITS = /^(?:0|[1-9]\d*)$/;
const NUMERIC = /^-?\d/;
const LITERALS: ReadonlySet<string> = new Set(['true', 'false', 'null']);
/** Names that lead out of data and into the machinery of objects: no path may hold them (D13). */
const NEVER_READ: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Reads a name and the path that follows it (D11). */
function readPath(cursor: Cursor): { readonly root: string; readonly path: readonly Segment[] } {
  cursor.skipSpace();
  const start = cursor.at;
  const root = readRoot(cursor);
  const path: Segment[] = [];
  for (let segment = readSegment(cursor); segment !== undefined; segment = readSegment(cursor)) {
    path.push(segment);
  }
  if (path.length === 0 && LITERALS.has(root)) failAtLiteral(cursor, start);
  return { root, path };
}

function readRoot(cursor: Cursor): string {
  const start = cursor.at;
  const root = cursor.takeWord();
  if (root === '') failAtStart(cursor);
  if (NUMERIC.test(root)) failAtLiteral(cursor, start);
  if (root.startsWith('-')) cursor.fail(`a name cannot start with "-"`, undefined, start);
  return root;
}

function readSegment(cursor: Cursor): Segment | undefined {
  cursor.skipSpace();
  const start = cursor.at;
  const segment = cursor.take('.')
    ? readField(cursor)
    : cursor.take('[')
      ? readBracket(cursor, start)
      : undefined;
  if (segment?.kind === 'field' && NEVER_READ.has(segment.name)) {
    cursor.fail(`"${segment.name}" is never read`, 'give the field another name', start);
  }
  return segment;
}

function readField(cursor: Cursor): Segment {
  const dot = cursor.at - 1;
  cursor.skipSpace();
  const name = cursor.takeWord();
  if (name === '') failAtDot(cursor, dot);
  const index = Number(name);
  return DIGITS.test(name) && Number.isSafeInteger(index)
    ? { kind: 'index', index }
    : { kind: 'field', name };
}

function readBracket(cursor: Cursor, start: number): Segment {
  cursor.skipSpace();
  const quoted = cursor.sees('"') || cursor.sees("'");
  const segment: Segment = quoted
    ? { kind: 'field', name: cursor.takeQuoted() }
    : { kind: 'index', index: readIndex(cursor, start) };
  cursor.skipSpace();
  if (!cursor.take(']')) failAtBracket(cursor, start);
  return segment;
}

function readIndex(cursor: Cursor, start: number): number {
  const digits = cursor.takeMatch(INDEX);
  const index = Number(digits);
  if (digits === '') failAtBracket(cursor, start);
  if (!Number.isSafeInteger(index))
    cursor.fail(`the index ${digits.slice(0, 20)}… is too large`, undefined, start);
  return index === 0 ? 0 : index;
}
