import type { Steps } from '../../../common/scheduling/steps.js';
import { Cursor, TemplateSyntaxError } from './cursor.js';
import { ExpressionTable } from '../expressions/expression-table.js';
import type {
  Expression,
  PlacedExpression,
  Segment,
  TemplatePart,
  TemplateProblem,
} from '../expressions/expression.js';
import { readLiteral } from './literal.js';
import {
  failAfterExpression,
  failAtBracket,
  failAtDot,
  failAtLiteral,
  failAtStart,
  UNCLOSED,
} from './syntax-errors.js';

type ParsedTemplate =
  /** `whole`: the text is exactly one template, and its value keeps its type (D10). */
  | { readonly ok: true; readonly parts: readonly TemplatePart[]; readonly whole: boolean }
  /** `parts`: what is valid; the rest is among them as literal text, up to the last problem that is reported. */
  | {
      readonly ok: false;
      readonly parts: readonly TemplatePart[];
      readonly problems: readonly TemplateProblem[];
    };

/** Most problems that are reported in one text. */
const MAX_PROBLEMS = 100;

const TEMPLATES_PER_STEP = 50;

/**
 * Parses a text of the definition. Templates come from nowhere else (D14).
 *
 * `\{{` is a literal `{{`; two backslashes before `{{` are one backslash and a template. A lone `{` or `}}` is text.
 * Reports up to 100 problems. Takes time linear in the text, and never throws.
 *
 * @param table has the expressions that were read before: equal ones are parsed once
 * @returns undefined when the text contains no template and no escape, and is a plain string
 */
export function parseTemplate(text: string, table = new ExpressionTable()): ParsedTemplate | undefined {
  const reader = openReader(text, table);
  while (reader?.readNext() === true);
  return reader?.result();
}

/** Parses a long text like `parseTemplate`. */
export function* parseInSteps(text: string, table: ExpressionTable): Steps<ParsedTemplate | undefined> {
  const reader = openReader(text, table);
  for (let count = 1; reader?.readNext() === true; count++) if (count % TEMPLATES_PER_STEP === 0) yield;
  return reader?.result();
}

function openReader(text: string, table: ExpressionTable): TemplateReader | undefined {
  const first = text.indexOf('{{');
  return first < 0 ? undefined : new TemplateReader(text, first, table);
}

class TemplateReader {
  readonly #text: string;
  readonly #table: ExpressionTable;
  readonly #lastClose: number;
  readonly #parts: TemplatePart[] = [];
  readonly #problems: TemplateProblem[] = [];
  #plain = '';
  #at = 0;
  /** The next `{{`. */
  #open: number;

  constructor(text: string, first: number, table: ExpressionTable) {
    this.#text = text;
    this.#table = table;
    this.#open = first;
    this.#lastClose = text.lastIndexOf('}}');
  }

  /** Reads up to the end of the next template, and returns whether there was one to read. */
  readNext(): boolean {
    if (this.#open < 0 || this.#problems.length === MAX_PROBLEMS) return false;
    if (this.#takePlain(this.#open)) {
      this.#plain += '{{';
      this.#at = this.#open + 2;
    } else this.#takeTemplate(this.#open);
    this.#open = this.#text.indexOf('{{', this.#at);
    return true;
  }

  /** Returns what was read, after everything was. */
  result(): ParsedTemplate {
    this.#plain += this.#text.slice(this.#at);
    this.#endPlain();
    const [parts, problems] = [this.#parts, this.#problems];
    return problems.length > 0 ? { ok: false, parts, problems } : { ok: true, parts, whole: isWhole(parts) };
  }

  /** Reads the text before a `{{`, and returns whether backslashes escape it. */
  #takePlain(open: number): boolean {
    let start = open;
    while (start > this.#at && this.#text[start - 1] === '\\') start--;
    const backslashes = open - start;
    this.#plain += this.#text.slice(this.#at, start) + '\\'.repeat(backslashes >> 1);
    return backslashes % 2 === 1;
  }

  #takeTemplate(open: number): void {
    if (open > this.#lastClose) {
      this.#problems.push({ ...UNCLOSED, offset: open, start: open });
      this.#takeInvalid(open, this.#text.length);
      return;
    }
    try {
      const placed = this.#readKnown(open) ?? this.#readExpression(open);
      this.#endPlain();
      this.#parts.push(placed);
      this.#at = placed.end;
    } catch (error) {
      if (!(error instanceof TemplateSyntaxError)) throw error;
      this.#problems.push(error.problem);
      this.#takeInvalid(open, Math.max(error.resume, open + 2));
    }
  }

  /** Reads an expression that was parsed before: what was valid up to its braces is so again. */
  #readKnown(open: number): PlacedExpression | undefined {
    const close = this.#text.indexOf('}}', open);
    const expression = this.#table.find(this.#text.slice(open + 2, close).trim());
    return expression && { expression, offset: open, end: close + 2 };
  }

  /** @throws TemplateSyntaxError */
  #readExpression(open: number): PlacedExpression {
    const cursor = new Cursor(this.#text, open);
    const expression = this.#table.intern(readExpression(cursor));
    return { expression, offset: open, end: cursor.at };
  }

  #takeInvalid(start: number, end: number): void {
    this.#plain += this.#text.slice(start, end);
    this.#at = end;
  }

  #endPlain(): void {
    if (this.#plain !== '') this.#parts.push(this.#plain);
    this.#plain = '';
  }
}

/** The newline that a YAML block leaves at the end of its text does not count (D10). */
function isWhole(parts: readonly TemplatePart[]): boolean {
  return typeof parts[0] === 'object' && (parts.length === 1 || (parts.length === 2 && parts[1] === '\n'));
}

/** Reads `{{ path }}` or `{{ path ?? literal }}`, with the braces. @throws TemplateSyntaxError */
function readExpression(cursor: Cursor): Expression {
  cursor.take('{{');
  const { root, path } = readPath(cursor);
  const fallback = readFallback(cursor);
  const close = cursor.at;
  if (!cursor.take('}}')) failAfterExpression(cursor, fallback !== undefined);
  const source = cursor.text.slice(cursor.start + 2, close).trim();
  return { source, root, path, fallback };
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
/** Names that lead from data to the prototypes of objects; paths cannot contain them (D13). */
const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Reads a name and the path after it (D11). */
function readPath(cursor: Cursor): { readonly root: string; readonly path: readonly Segment[] } {
  cursor.skipSpace();
  const start = cursor.at;
  const root = readRoot(cursor);
  const path: Segment[] = [];
  for (let segment = readSegment(cursor); segment !== undefined; segment = readSegment(cursor)) {
    path.push(segment);
    cursor.limitLength();
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
  if (segment?.kind === 'field' && FORBIDDEN_NAMES.has(segment.name)) {
    cursor.fail(`"${segment.name}" cannot be read`, 'rename the field', start);
  }
  return segment;
}

function readField(cursor: Cursor): Segment {
  const dot = cursor.at - 1;
  cursor.skipSpace();
  const name = cursor.takeWord();
  if (name === '') failAtDot(cursor, dot);
  const index = DIGITS.test(name) ? Number(name) : undefined;
  return { kind: 'field', name, index: Number.isSafeInteger(index) ? index : undefined };
}

function readBracket(cursor: Cursor, start: number): Segment {
  cursor.skipSpace();
  const quoted = cursor.startsWith('"') || cursor.startsWith("'");
  const segment: Segment = quoted
    ? { kind: 'field', name: cursor.takeQuoted(), index: undefined }
    : { kind: 'index', name: undefined, index: readIndex(cursor, start) };
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
