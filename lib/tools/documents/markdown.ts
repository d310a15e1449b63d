import type { DocumentContent, Section } from './document.js';

/** What follows backticks may hold none: then they are code within a line. */
const FENCE = /^ {0,3}(?:(`{3,})([^`]*)|(~{3,})(.*))$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t](.*))?$/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
/** Lines that are no paragraph, so that a line of dashes below them is a rule or a table, not a heading. */
const NO_PARAGRAPH = /^(?: {4}|\t| {0,3}(?:[>|]|[-+*][ \t]|\d{1,9}[.)][ \t]|-{3,}|\*{3,}|_{3,}))/;

interface Heading {
  readonly level: number;
  readonly heading: string;
  /** Where its line begins, and where the text below it does. */
  readonly line: number;
  readonly body: number;
}

/** Cuts a Markdown text into its sections; the title is the first heading of level 1, or else the first heading. */
export function readMarkdown(text: string): DocumentContent {
  const headings = headingsOf(text);
  const sections = [
    ...opening(text, headings),
    ...headings.map((heading, i) => sectionOf(text, heading, headings[i + 1])),
  ];
  const title = (headings.find(({ level }) => level === 1) ?? headings[0])?.heading;
  return { sections, ...(title !== undefined && title !== '' && { title }) };
}

function opening(text: string, [first]: readonly Heading[]): Section[] {
  const before = text.slice(frontMatterLength(text), first?.line).trim();
  return before === '' ? [] : [{ level: 0, heading: '', text: before }];
}

function sectionOf(text: string, { level, heading, body }: Heading, next: Heading | undefined): Section {
  return { level, heading, text: text.slice(body, next?.line).trim() };
}

function headingsOf(text: string): Heading[] {
  const headings: Heading[] = [];
  let fence: string | undefined;
  let paragraph: { text: string; at: number } | undefined;
  for (const { line, at, next } of linesFrom(text, frontMatterLength(text))) {
    const mark = fenceOf(line);
    if (fence !== undefined) {
      if (mark !== undefined && closes(mark, fence)) fence = undefined;
      continue;
    }
    const heading = HEADING.exec(line);
    const underline = UNDERLINE.exec(line);
    if (mark !== undefined) fence = mark.marks;
    else if (heading !== null) headings.push(numbered(heading, at, next));
    else if (underline !== null && paragraph !== undefined) {
      const level = underline[1]?.startsWith('=') === true ? 1 : 2;
      headings.push({ level, heading: paragraph.text, line: paragraph.at, body: next });
    } else if (line.trim() !== '' && !NO_PARAGRAPH.test(line)) {
      paragraph =
        paragraph === undefined
          ? { text: line.trim(), at }
          : { text: `${paragraph.text} ${line.trim()}`, at: paragraph.at };
      continue;
    }
    paragraph = undefined;
  }
  return headings;
}

function numbered([, marks, rest]: RegExpExecArray, line: number, body: number): Heading {
  return { level: marks?.length ?? 0, heading: withoutClosingMarks((rest ?? '').trim()), line, body };
}

/** `# A heading ##` */
function withoutClosingMarks(heading: string): string {
  let end = heading.length;
  while (heading[end - 1] === '#') end -= 1;
  if (end === 0) return '';
  return /\s/.test(heading[end - 1] ?? '') ? heading.slice(0, end).trimEnd() : heading;
}

function fenceOf(line: string): { marks: string; rest: string } | undefined {
  const found = FENCE.exec(line);
  if (found === null) return undefined;
  const [, ticks, afterTicks, tildes, afterTildes] = found;
  return { marks: ticks ?? tildes ?? '', rest: afterTicks ?? afterTildes ?? '' };
}

function closes({ marks, rest }: { marks: string; rest: string }, fence: string): boolean {
  return marks[0] === fence[0] && marks.length >= fence.length && rest.trim() === '';
}

/** Length of the YAML block that some documents begin with. */
function frontMatterLength(text: string): number {
  if (!/^---\r?\n/.test(text)) return 0;
  for (const { line, next, at } of linesFrom(text, 0)) {
    if (at > 0 && (line === '---' || line === '...')) return next;
  }
  return 0;
}

function* linesFrom(text: string, start: number): Generator<{ line: string; at: number; next: number }> {
  for (let at = start; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const next = end === -1 ? text.length : end + 1;
    const line = text.slice(at, end === -1 ? text.length : end);
    yield { line: line.endsWith('\r') ? line.slice(0, -1) : line, at, next };
    at = next;
  }
}
