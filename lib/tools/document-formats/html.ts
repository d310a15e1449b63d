import type { JsonObject } from '../../common/json/json.js';
import { assertPageCount, type DocumentContent, type DocumentPage, textPage } from '../documents/document.js';
import { HtmlTable } from './html-table.js';

/** Longer prose is split at paragraphs, so that a page fits into a prompt. */
const MAX_PROSE_LENGTH = 8000;

const HEADINGS = new Set(['h1', 'h2', 'h3', 'h4']);
/** Elements whose content nobody sees; `ix:header` holds the data of XBRL. */
const UNSEEN = new Set(['script', 'style', 'noscript', 'template', 'svg', 'ix:header', 'ix:hidden']);
/** Elements that end a paragraph. */
const BLOCKS = new Set(
  (
    'address article aside blockquote br dd div dl dt fieldset figcaption footer form h5 h6 header hr li main ' +
    'nav ol p pre section tr ul'
  ).split(' '),
);

/** The text below one heading, and its tables. */
interface HtmlSection {
  readonly heading: string;
  /** In the order in which they end. */
  readonly parts: SectionPart[];
}

/** A table, or a paragraph between tables. */
interface SectionPart {
  readonly type: 'prose' | 'table';
  readonly text: string;
  /** Where it begins among all parts: a table begins before those that are in it. */
  readonly position: number;
}

/**
 * Reads HTML: a page for each section under h1 to h4, in which each table is a page between those of the prose before and after it. Knows
 * nothing of how elements look, so what a style hides is read, too.
 *
 * @throws ToolError, not retryable, when there are too many pages
 */
export async function parseHtml(html: string, source: string): Promise<DocumentContent> {
  const { Parser } = await import('htmlparser2');
  const reader = new HtmlReader();
  const parser = new Parser(reader);
  parser.end(html);
  const pages = toPages(reader.finish(), source);
  return { pages, ...(reader.title !== '' && { title: reader.title }) };
}

/** Collects sections from the events of the parser. */
class HtmlReader {
  title = '';
  readonly #sections: HtmlSection[] = [{ heading: '', parts: [] }];
  /** Tables that are open, the innermost last. */
  readonly #tables: HtmlTable[] = [];
  #parts = 0;
  #unseen = 0;
  /** The heading or title that is open. */
  #heading: string | undefined;
  #text = '';

  onopentag(name: string): void {
    if (UNSEEN.has(name)) this.#unseen++;
    if (this.#unseen > 0) return;
    if (name === 'title' || (HEADINGS.has(name) && this.#tables.length === 0)) {
      this.#endParagraph();
      this.#heading = name;
    } else if (name === 'table') {
      this.#endParagraph();
      this.#tables.push(new HtmlTable(this.#parts++));
    } else if (name === 'tr') this.#tables.at(-1)?.startRow();
    else if (name === 'td' || name === 'th') this.#tables.at(-1)?.startCell();
    if (BLOCKS.has(name)) this.#endParagraph();
  }

  ontext(text: string): void {
    if (this.#unseen > 0) return;
    const table = this.#tables.at(-1);
    if (table === undefined || this.#heading !== undefined) this.#text += text;
    else table.addText(text);
  }

  onclosetag(name: string): void {
    if (UNSEEN.has(name)) {
      this.#unseen = Math.max(0, this.#unseen - 1);
      return;
    }
    if (this.#unseen > 0) return;
    if (name === this.#heading) this.#endHeading(name);
    else if (name === 'table') this.#endTable();
    else if (BLOCKS.has(name)) this.#endParagraph();
  }

  /** The sections in order, when the text has ended. */
  finish(): readonly HtmlSection[] {
    if (this.#heading !== undefined) this.#endHeading(this.#heading);
    while (this.#tables.length > 0) this.#endTable();
    this.#endParagraph();
    return this.#sections;
  }

  get #section(): HtmlSection {
    return this.#sections.at(-1) as HtmlSection;
  }

  #endHeading(name: string): void {
    const heading = this.#takeText();
    this.#heading = undefined;
    if (name === 'title') this.title ||= heading;
    else if (heading !== '') this.#sections.push({ heading, parts: [] });
  }

  #endTable(): void {
    const table = this.#tables.pop();
    const text = table?.toText() ?? '';
    if (table === undefined || text === '') return;
    // A table of one cell is there for the layout.
    const isTable = text.includes(' | ') || text.includes('\n');
    this.#section.parts.push({ type: isTable ? 'table' : 'prose', text, position: table.position });
  }

  #endParagraph(): void {
    if (this.#tables.length > 0) return this.#tables.at(-1)?.addText(' ');
    if (this.#heading !== undefined) {
      this.#text += ' ';
      return;
    }
    const text = this.#takeText();
    if (text !== '') this.#section.parts.push({ type: 'prose', text, position: this.#parts++ });
  }

  #takeText(): string {
    const text = this.#text.replaceAll(/\s+/g, ' ').trim();
    this.#text = '';
    return text;
  }
}

function toPages(sections: readonly HtmlSection[], source: string): DocumentPage[] {
  const pages: DocumentPage[] = [];
  const add = (text: string, metadata: JsonObject): void => {
    pages.push(textPage(pages.length + 1, text, metadata));
    assertPageCount(pages.length, source);
  };
  for (const { heading, parts } of sections) {
    const described = { heading: heading === '' ? null : heading, note_label: findNoteLabel(heading) };
    let prose: string[] = [];
    const addProse = (): void => {
      for (const text of splitProse(prose)) add(text, { type: 'prose', ...described });
      prose = [];
    };
    for (const { type, text } of withHeading(heading, parts)) {
      if (type === 'prose') prose.push(text);
      else {
        addProse();
        add(text, { type, ...described });
      }
    }
    addProse();
  }
  return pages;
}

/** The parts in their order, the heading before the first paragraph; that of a section of tables is in their metadata. */
function withHeading(heading: string, parts: readonly SectionPart[]): readonly SectionPart[] {
  const ordered = parts.toSorted((a, b) => a.position - b.position);
  const first = ordered.findIndex(({ type }) => type === 'prose');
  if (heading === '' || (first < 0 && ordered.length > 0)) return ordered;
  const position = ordered[first]?.position ?? 0;
  return ordered.toSpliced(Math.max(first, 0), 0, { type: 'prose', text: heading, position });
}

/** Joins paragraphs to texts of a length that fits into a prompt; a longer paragraph stays whole. */
function splitProse(paragraphs: readonly string[]): string[] {
  const texts: string[] = [];
  let open: string[] = [];
  let length = 0;
  for (const paragraph of paragraphs) {
    if (length > 0 && length + paragraph.length > MAX_PROSE_LENGTH) {
      texts.push(open.join('\n\n'));
      open = [];
      length = 0;
    }
    open.push(paragraph);
    length += paragraph.length + 2;
  }
  if (open.length > 0) texts.push(open.join('\n\n'));
  return texts;
}

const NOTE = /^(?:(note|item)\s+(\d{1,3}[a-z]?)\b|(\d{1,3}\.)(?=\s|$))/i;

/** `Note 2`, `Item 7A` or `3.` at the beginning of a heading. */
function findNoteLabel(heading: string): string | null {
  const found = NOTE.exec(heading);
  if (found === null) return null;
  const [, kind, number = '', position] = found;
  if (kind === undefined) return position ?? null;
  return `${kind.slice(0, 1).toUpperCase()}${kind.slice(1).toLowerCase()} ${number.toUpperCase()}`;
}
