import { Cursor, SyntaxFault } from './cursor.js';
import { readExpression } from './expression-reader.js';
import type { TemplatePart, TemplateProblem } from './expression.js';

export type { Expression, Segment, TemplatePart, TemplateProblem } from './expression.js';

export type ParsedTemplate =
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
