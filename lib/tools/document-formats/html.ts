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
  readonly paragraphs: string[];
  readonly tables: string[];
}

/**
 * Reads HTML: a page for each section under h1 to h4, and one for each table after the section that it is in. Knows
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
  readonly #sections: HtmlSection[] = [{ heading: '', paragraphs: [], tables: [] }];
  /** Tables that are open, the innermost last. */
  readonly #tables: HtmlTable[] = [];
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
      this.#tables.push(new HtmlTable());
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
    else if (heading !== '') this.#sections.push({ heading, paragraphs: [], tables: [] });
  }

  #endTable(): void {
    const table = this.#tables.pop();
    const text = table?.toText() ?? '';
    if (text === '') return;
    // A table of one cell is there for the layout.
    if (text.includes(' | ') || text.includes('\n')) this.#section.tables.push(text);
    else this.#section.paragraphs.push(text);
  }

  #endParagraph(): void {
    if (this.#tables.length > 0) return this.#tables.at(-1)?.addText(' ');
    if (this.#heading !== undefined) {
      this.#text += ' ';
      return;
    }
    const text = this.#takeText();
    if (text !== '') this.#section.paragraphs.push(text);
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
  for (const { heading, paragraphs, tables } of sections) {
    const described = { heading: heading === '' ? null : heading, note_label: findNoteLabel(heading) };
    const prose = heading === '' ? paragraphs : [heading, ...paragraphs];
    // The heading of a section of tables is in their metadata.
    if (paragraphs.length > 0 || tables.length === 0) {
      for (const text of splitProse(prose)) add(text, { type: 'prose', ...described });
    }
    for (const text of tables) add(text, { type: 'table', ...described });
  }
  return pages;
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
