import { ToolError } from '../../../common/errors.js';
import { DOCUMENT_LIMITS } from '../../../common/limits.js';
import type { Steps } from '../../../common/scheduling/steps.js';
import { formatNumber } from '../../../common/text.js';
import type { Chunk } from './chunks.js';
import { PostingLists } from './posting-lists.js';

/** How fast more of the same word counts less, and how much the length of a chunk counts. */
const K1 = 1.5;
const B = 0.75;

/** Words are letters and digits of any script; a part of a long text is searched for them in a step. */
const WORD = /[\p{L}\p{N}]+/gu;
const STEP_LENGTH = 4 * 1024;
/** So many chunks are looked at in a step of a search. */
const STEP_CHUNKS = 10_000;
/** So many are sorted in a step. */
const STEP_SORTED = 1000;
/** Of a longer text, only the beginning is a query, and of more different words, only the first. */
const MAX_QUERY_LENGTH = 10_000;
const MAX_QUERY_WORDS = 1000;

/** A chunk's page and score; a higher score is a better match, 0 is none. */
export interface Scored {
  readonly page: number;
  readonly score: number;
}

/** Ranks the chunks of a document by how well they match a query (Okapi BM25). */
export class Bm25Index {
  readonly #postings: PostingLists;
  readonly #pages: Uint32Array;
  readonly #lengths: Uint32Array;
  readonly #averageLength: number;

  private constructor(pages: Uint32Array, lengths: Uint32Array, words: number, postings: PostingLists) {
    this.#pages = pages;
    this.#lengths = lengths;
    this.#postings = postings;
    this.#averageLength = Math.max(words / Math.max(lengths.length, 1), 1);
  }

  /** Memory of the index, about. */
  get bytes(): number {
    return this.#postings.bytes + this.#pages.byteLength + this.#lengths.byteLength;
  }

  /**
   * Indexes chunks, in steps.
   *
   * @param hold takes memory for what is made; stops it when it throws
   * @throws ToolError, not retryable, when there are too many different words
   */
  static *create(
    chunks: readonly Chunk[],
    hold: (bytes: number) => void = () => undefined,
  ): Steps<Bm25Index> {
    const postings = new PostingLists();
    const pages = new Uint32Array(chunks.length);
    const lengths = new Uint32Array(chunks.length);
    let words = 0;
    let sinceStep = 0;
    let heldBytes = 0;
    for (const [chunk, { page, text }] of chunks.entries()) {
      pages[chunk] = page;
      const wordsBefore = words;
      for (let from = 0; from < text.length; ) {
        const to = endOfPart(text, from);
        for (const word of text.slice(from, to).toLowerCase().match(WORD) ?? []) {
          postings.add(word, chunk);
          words++;
        }
        // Also many short chunks take their time.
        sinceStep += to - from + 10;
        from = to;
        if (sinceStep < STEP_LENGTH / 2) continue;
        sinceStep = 0;
        assertWordCount(postings.wordCount);
        hold(postings.bytes - heldBytes);
        heldBytes = postings.bytes;
        yield;
      }
      lengths[chunk] = words - wordsBefore;
    }
    return new Bm25Index(pages, lengths, words, postings);
  }

  /**
   * Returns the best chunks, the best one first, and of equal ones the first in the document. Chunks without any word of
   * the query are among them only when no chunk has one. Searches in steps.
   */
  *search(query: string, most: number): Steps<Scored[]> {
    const words = new Set(query.slice(0, MAX_QUERY_LENGTH).toLowerCase().match(WORD) ?? []);
    const scores = new Float64Array(this.#pages.length);
    for (const word of [...words].slice(0, MAX_QUERY_WORDS)) yield* this.#addScores(word, scores);
    const best = yield* selectBest(scores, most);
    return best.map((chunk) => ({ page: this.#pages[chunk] ?? 0, score: scores[chunk] ?? 0 }));
  }

  *#addScores(word: string, scores: Float64Array): Steps<void> {
    const found = this.#postings.countChunks(word);
    const rarity = Math.log(1 + (scores.length - found + 0.5) / (found + 0.5));
    yield* this.#postings.visit(word, (chunk, count) => {
      const length = (this.#lengths[chunk] ?? 0) / this.#averageLength;
      scores[chunk] =
        (scores[chunk] ?? 0) + (rarity * count * (K1 + 1)) / (count + K1 * (1 - B + B * length));
    });
    if (found > STEP_CHUNKS / 10) yield;
  }
}

/** Returns the positions of the highest scores, or the first positions when all scores are 0. */
function* selectBest(scores: Float64Array, most: number): Steps<number[]> {
  const compare = (a: number, b: number): number => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b;
  let best: number[] = [];
  let open: number[] = [];
  for (const [chunk, score] of scores.entries()) {
    if (score > 0) open.push(chunk);
    if (open.length >= STEP_SORTED) {
      // Sorting is fast where most is in order.
      best = [...best, ...open.sort(compare)].sort(compare).slice(0, most);
      open = [];
      yield;
    } else if (chunk % STEP_CHUNKS === STEP_CHUNKS - 1) yield;
  }
  best = [...best, ...open.sort(compare)].sort(compare).slice(0, most);
  if (best.length > 0) return best;
  return Array.from({ length: Math.min(most, scores.length) }, (_, chunk) => chunk);
}

/** Where a part ends that is searched for words in one step: at a blank, if there is one in reach. */
function endOfPart(text: string, from: number): number {
  const end = from + STEP_LENGTH;
  if (end >= text.length) return text.length;
  for (let at = end; at > end - 1000; at--) if (text.charCodeAt(at) <= 32) return at;
  return end;
}

function assertWordCount(count: number): void {
  const most = DOCUMENT_LIMITS.indexedWords;
  if (count <= most) return;
  throw ToolError.nonRetryable(
    `the document has more than ${formatNumber(most)} different words, which are too many to search: ` +
      'split it, or name its "pages"',
  );
}
