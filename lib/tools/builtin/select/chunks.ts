import { ToolError } from '../../../common/errors.js';
import type { JsonObject } from '../../../common/json/json.js';
import { DOCUMENT_LIMITS } from '../../../common/limits.js';
import type { Steps } from '../../../common/scheduling/steps.js';
import type { PassedPage } from '../../../definition/text/document-text.js';
import { pagesOf } from '../../documents/document.js';
import { formatNumber } from '../../../common/text.js';

/** A part of a page that is found, or not found, as a whole. */
export interface Chunk {
  /** Position of the page in the document. */
  readonly page: number;
  readonly text: string;
}

/** About as many words are in a chunk of prose. */
const CHUNK_WORDS = 512;
/** More letters than this are looked at in several steps. */
const STEP_LENGTH = 16 * 1024;
/** Of a longer sentence, parts are counted, wherever they end. */
const MAX_SENTENCE_LENGTH = 4 * STEP_LENGTH;
/** A line takes as long as so many letters. */
const CHARACTERS_PER_LINE = 20;
/** Each chunk of a page repeats its labels. */
const MAX_LABEL_LENGTH = 200;
const MAX_HEADING_LENGTH = 80;
/** As many words have about that length. */
const MAX_HEADING_WORDS = 15;

/** Each page is one chunk; its heading and the name of its sheet count. */
export function* pageChunks(document: JsonObject): Steps<Chunk[]> {
  const chunks: Chunk[] = [];
  for (const [page, value] of pagesOf(document).entries()) {
    chunks.push({ page, text: [...labelsOf(value), value.text].join('\n') });
    if (page % 100 === 99) yield;
  }
  return chunks;
}

/**
 * Cuts each page into chunks: a sheet and a table are one each, and prose is cut at the ends of sentences after about 512
 * words. A heading belongs to the chunk below it.
 *
 * @throws ToolError, not retryable, when there are too many
 */
export function* smallChunks(document: JsonObject): Steps<Chunk[]> {
  const chunks: Chunk[] = [];
  for (const [page, value] of pagesOf(document).entries()) {
    const labels = labelsOf(value)
      .map((label) => label.slice(0, MAX_LABEL_LENGTH))
      .join('\n');
    const text = value.text;
    const add = (chunk: string): void => {
      if (chunks.length >= DOCUMENT_LIMITS.chunks) throw tooManyChunks();
      chunks.push({ page, text: labels === '' ? chunk : `${labels}\n${chunk}` });
    };
    if (typeof value['sheet_name'] === 'string') add(text);
    else yield* cutPage(text, add);
    yield;
  }
  return chunks;
}

function tooManyChunks(): ToolError {
  const most = formatNumber(DOCUMENT_LIMITS.chunks);
  return ToolError.nonRetryable(
    `the document has more than ${most} headings, tables and parts of prose, which are too many for "granularity": ` +
      '"chunk": split it, or use "page"',
  );
}

function labelsOf(page: PassedPage): string[] {
  const metadata = page['metadata'];
  const heading =
    typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata) && metadata['heading'];
  return [page['sheet_name'], heading].filter((label) => typeof label === 'string');
}

function* cutPage(text: string, add: (chunk: string) => void): Steps<void> {
  let open = '';
  let words = 0;
  const close = (): void => {
    if (open.trim() !== '') add(open);
    open = '';
    words = 0;
  };
  for (const block of blocksOf(text)) {
    if (block === PAUSE) {
      yield;
      continue;
    }
    if (block.isTable) {
      // The text before a table may be its heading.
      if (words > MAX_HEADING_WORDS) close();
      open += `${block.text}\n`;
      close();
      continue;
    }
    if (isHeading(block.text) && words > 0) close();
    for (const sentence of sentencesOf(block.text)) {
      if (sentence === PAUSE) {
        yield;
        continue;
      }
      open += sentence;
      words += countWords(sentence);
      if (words >= CHUNK_WORDS) {
        close();
        yield;
      }
    }
    open += '\n';
  }
  close();
}

/** Lines without an empty one between them. */
interface Block {
  readonly text: string;
  /** True when half of the lines, and two at least, have bars or wide gaps. */
  readonly isTable: boolean;
}

/** Stands for a pause among the parts of a long text. */
const PAUSE = undefined;

/** Splits a text at empty lines. */
function* blocksOf(text: string): Generator<Block | typeof PAUSE> {
  let start = 0;
  let lines = 0;
  let wide = 0;
  const toBlock = (end: number): Block => ({
    text: text.slice(start, end),
    isTable: wide >= 2 && wide * 2 >= lines,
  });
  let looked = 0;
  for (let at = 0; at <= text.length; ) {
    const found = text.indexOf('\n', at);
    const end = found === -1 ? text.length : found;
    // A longer line is no row of a table.
    const line = text.slice(at, Math.min(end, at + STEP_LENGTH));
    if (line.trim() === '' && text.slice(at, end).trim() === '') {
      if (lines > 0) yield toBlock(at - 1);
      [start, lines, wide] = [end + 1, 0, 0];
    } else {
      lines++;
      if (line.includes('|') || line.trim().includes('   ')) wide++;
    }
    looked += line.length + CHARACTERS_PER_LINE;
    if (looked >= STEP_LENGTH) {
      looked = 0;
      yield PAUSE;
    }
    at = end + 1;
  }
  if (lines > 0) yield toBlock(text.length);
}

/** A short line that ends in a colon, is numbered, or has no small first letters. */
function isHeading(block: string): boolean {
  if (block.length > MAX_HEADING_LENGTH || block.includes('\n')) return false;
  if (block.endsWith(':') || /^\d{1,3}(?:\.\d{1,3})*[.)]?\s/.test(block)) return true;
  if (/[.!?;,]$/.test(block)) return false;
  const words = block.split(/\s+/).filter((word) => word.length > 3);
  return words.length > 0 && words.every((word) => !/^\p{Ll}/u.test(word));
}

/** Splits prose after each sentence, and at blanks where a sentence is very long, if it has any. */
function* sentencesOf(block: string): Generator<string | typeof PAUSE> {
  let start = 0;
  for (let from = 0; from < block.length; from += STEP_LENGTH) {
    for (const found of block.slice(from, from + STEP_LENGTH).matchAll(/\s+/g)) {
      const at = from + found.index;
      const end = at + found[0].length;
      const isEnd = /[.!?]/.test(block.charAt(at - 1));
      if (!isEnd && end - start < STEP_LENGTH) continue;
      yield block.slice(start, end);
      start = end;
    }
    const next = from + STEP_LENGTH;
    if (next - start > MAX_SENTENCE_LENGTH && next < block.length) {
      yield block.slice(start, next);
      start = next;
    } else if (next < block.length) yield PAUSE;
  }
  if (start < block.length) yield block.slice(start);
}

function countWords(text: string): number {
  let count = 0;
  let isInWord = false;
  for (let i = 0; i < text.length; i++) {
    const isBlank = text.charCodeAt(i) <= 32;
    if (!isBlank && !isInWord) count++;
    isInWord = !isBlank;
  }
  return count;
}
