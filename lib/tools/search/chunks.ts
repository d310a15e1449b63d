import type { JsonObject } from '../../common/json.js';
import type { Steps } from '../../common/steps.js';
import { pagesOf, type PassedPage } from '../documents/document.js';

/** A part of a page that is found, or not found, as a whole. */
export interface Chunk {
  /** Position of its page in the document. */
  readonly page: number;
  readonly text: string;
}

/** About as many words are in a chunk of prose. */
const CHUNK_WORDS = 512;
/** More letters than this are searched for words in a step. */
const STEP_LENGTH = 16 * 1024;
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
 */
export function* smallChunks(document: JsonObject): Steps<Chunk[]> {
  const chunks: Chunk[] = [];
  for (const [page, value] of pagesOf(document).entries()) {
    const labels = labelsOf(value).join('\n');
    const text = value.text;
    const add = (chunk: string): void => {
      chunks.push({ page, text: labels === '' ? chunk : `${labels}\n${chunk}` });
    };
    if (typeof value['sheet_name'] === 'string') add(text);
    else yield* cutPage(text, add);
    yield;
  }
  return chunks;
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
    if (isTable(block)) {
      // What came before may be its heading.
      if (words > MAX_HEADING_WORDS) close();
      open += `${block}\n`;
      close();
      continue;
    }
    if (isHeading(block) && words > 0) close();
    for (const sentence of sentencesOf(block)) {
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

/** Splits a text at empty lines. */
function* blocksOf(text: string): Generator<string> {
  let lines: string[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() !== '') lines.push(line);
    else if (lines.length > 0) {
      yield lines.join('\n');
      lines = [];
    }
  }
  if (lines.length > 0) yield lines.join('\n');
}

/** Half of its lines, and two at least, have bars or wide gaps. */
function isTable(block: string): boolean {
  const lines = block.split('\n');
  const wide = lines.filter((line) => line.includes('|') || line.trim().includes('   ')).length;
  return wide >= 2 && wide * 2 >= lines.length;
}

/** A short line that ends in a colon, is numbered, or has no small first letters. */
function isHeading(block: string): boolean {
  if (block.length > MAX_HEADING_LENGTH || block.includes('\n')) return false;
  if (block.endsWith(':') || /^\d{1,3}(?:\.\d{1,3})*[.)]?\s/.test(block)) return true;
  if (/[.!?;,]$/.test(block)) return false;
  const words = block.split(/\s+/).filter((word) => word.length > 3);
  return words.length > 0 && words.every((word) => !/^\p{Ll}/u.test(word));
}

/** Splits prose after each sentence, and at blanks where a sentence is very long. */
function* sentencesOf(block: string): Generator<string> {
  let start = 0;
  for (const found of block.matchAll(/[.!?]\s+|\s+/g)) {
    const end = found.index + found[0].length;
    const isEnd = /^[.!?]/.test(found[0]);
    if (!isEnd && end - start < STEP_LENGTH) continue;
    yield block.slice(start, end);
    start = end;
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
