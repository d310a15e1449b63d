import { copyText } from '../../common/text.js';
import type { DocumentContent, Section } from '../documents/document.js';

/** An info string after backticks contains no backtick: otherwise the line is inline code. */
const FENCE = /^ {0,3}(?:(`{3,})([^`]*)|(~{3,})(.*))$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t](.*))?$/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
/** Lines that do not belong to a paragraph, so that dashes below them are a rule or a table, not a heading. */
const NOT_PARAGRAPH = /^(?: {4}|\t| {0,3}(?:[>|]|[-+*][ \t]|\d{1,9}[.)][ \t]|-{3,}|\*{3,}|_{3,}))/;

interface Heading {
  readonly level: number;
  readonly heading: string;
  /** Offset of the heading's line. */
  readonly start: number;
  /** Offset of the text below the heading. */
  readonly body: number;
}

/**
 * Splits a Markdown text into its sections; the title is the first heading of level 1, or else the first heading.
 * Scans lines only: a full parser would build a tree of all inline content, which is not needed, and block the event
 * loop longer on a large file. The sections are copies, since a task may keep one heading of a large file.
 */
export function parseMarkdown(text: string): DocumentContent {
  const headings = findHeadings(text);
  const sections = [
    ...sectionBefore(text, headings),
    ...headings.map(({ level, heading, body }, i) => {
      const below = text.slice(body, headings[i + 1]?.start);
      return { level, heading, text: copyText(below.trim()) };
    }),
  ];
  const title = (headings.find(({ level }) => level === 1) ?? headings[0])?.heading;
  return { sections, ...(title !== undefined && title !== '' && { title }) };
}

function sectionBefore(text: string, [first]: readonly Heading[]): Section[] {
  const before = copyText(text.slice(skipFrontMatter(text), first?.start).trim());
  return before === '' ? [] : [{ level: 0, heading: '', text: before }];
}

function findHeadings(text: string): Heading[] {
  const headings: Heading[] = [];
  let fence: string | undefined;
  /** Offset of the paragraph that is open. */
  let paragraph: number | undefined;
  for (const { line, at, next } of lines(text, skipFrontMatter(text))) {
    // Most lines belong to a paragraph by their first character, and need no other pattern.
    if (fence === undefined && /^[A-Za-z]/.test(line)) {
      paragraph ??= at;
      continue;
    }
    const mark = matchFence(line);
    if (fence !== undefined) {
      if (mark !== undefined && closes(mark, fence)) fence = undefined;
      continue;
    }
    const heading = HEADING.exec(line);
    const underline = UNDERLINE.exec(line);
    if (mark !== undefined) fence = mark.marks;
    else if (heading !== null) {
      const [, { length: level } = '', rest = ''] = heading;
      headings.push({ level, heading: copyText(stripClosingMarks(rest.trim())), start: at, body: next });
    } else if (underline !== null && paragraph !== undefined) {
      const level = underline[1]?.startsWith('=') === true ? 1 : 2;
      headings.push({ level, heading: joinLines(text.slice(paragraph, at)), start: paragraph, body: next });
    } else if (line.trim() !== '' && !NOT_PARAGRAPH.test(line)) {
      paragraph ??= at;
      continue;
    }
    paragraph = undefined;
  }
  return headings;
}

function joinLines(paragraph: string): string {
  return copyText(
    paragraph
      .split('\n')
      .map((line) => line.trim())
      .join(' ')
      .trim(),
  );
}

/** Strips the marks from the end of `# A heading ##`. */
function stripClosingMarks(heading: string): string {
  let end = heading.length;
  while (heading[end - 1] === '#') end -= 1;
  if (end === 0) return '';
  return /\s/.test(heading[end - 1] ?? '') ? heading.slice(0, end).trimEnd() : heading;
}

function matchFence(line: string): { marks: string; rest: string } | undefined {
  const found = FENCE.exec(line);
  if (found === null) return undefined;
  const [, ticks, afterTicks, tildes, afterTildes] = found;
  return { marks: ticks ?? tildes ?? '', rest: afterTicks ?? afterTildes ?? '' };
}

function closes({ marks, rest }: { marks: string; rest: string }, fence: string): boolean {
  return marks[0] === fence[0] && marks.length >= fence.length && rest.trim() === '';
}

/** Returns the offset after the YAML front matter, or 0 without one. */
function skipFrontMatter(text: string): number {
  if (!/^---\r?\n/.test(text)) return 0;
  for (const { line, next, at } of lines(text, 0))
    if (at > 0 && (line === '---' || line === '...')) return next;
  return 0;
}

function* lines(text: string, start: number): Generator<{ line: string; at: number; next: number }> {
  for (let at = start; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const next = end === -1 ? text.length : end + 1;
    const line = text.slice(at, end === -1 ? text.length : end);
    yield { line: line.endsWith('\r') ? line.slice(0, -1) : line, at, next };
    at = next;
  }
}
