import type { Steps } from '../../common/steps.js';
import type { Chunk } from './chunks.js';

/** How fast more of the same word counts less, and how much the length of a chunk counts. */
const K1 = 1.5;
const B = 0.75;

/** Words are letters and digits of any script; a part of a long text is searched for them in a step. */
const WORD = /[\p{L}\p{N}]+/gu;
const STEP_LENGTH = 16 * 1024;
/** Of a longer text, only the beginning is a query. */
const MAX_QUERY_LENGTH = 10_000;

/** The chunks that hold a word, and how often. */
interface Postings {
  readonly chunks: number[];
  readonly counts: number[];
}

/** A chunk's page and score; a higher score is a better match, 0 is none. */
export interface Scored {
  readonly page: number;
  readonly score: number;
}

/** Ranks the chunks of a document by how well they match a query (Okapi BM25). */
export class Bm25Index {
  readonly #postings: ReadonlyMap<string, Postings>;
  readonly #pages: Int32Array;
  readonly #lengths: Uint32Array;
  readonly #averageLength: number;

  private constructor(pages: Int32Array, lengths: Uint32Array, postings: Map<string, Postings>) {
    this.#pages = pages;
    this.#lengths = lengths;
    this.#postings = postings;
    const total = lengths.reduce((sum, length) => sum + length, 0);
    this.#averageLength = Math.max(total / Math.max(lengths.length, 1), 1);
  }

  /** Indexes chunks, in steps. */
  static *create(chunks: readonly Chunk[]): Steps<Bm25Index> {
    const postings = new Map<string, Postings>();
    const lengths = new Uint32Array(chunks.length);
    let sinceStep = 0;
    for (const [chunk, { text }] of chunks.entries()) {
      const counts = new Map<string, number>();
      for (let from = 0; from < text.length; ) {
        const to = endOfPart(text, from);
        const part = text.slice(from, to);
        for (const word of part.toLowerCase().match(WORD) ?? []) {
          counts.set(word, (counts.get(word) ?? 0) + 1);
          lengths[chunk] = (lengths[chunk] ?? 0) + 1;
        }
        from = to;
        sinceStep += part.length;
        if (sinceStep >= STEP_LENGTH / 2) {
          sinceStep = 0;
          yield;
        }
      }
      addCounts(postings, chunk, counts);
    }
    return new Bm25Index(
      Int32Array.from(chunks, ({ page }) => page),
      lengths,
      postings,
    );
  }

  /**
   * Returns the best chunks, the best one first, and of equal ones the first in the document. Chunks without any word of
   * the query are among them only when no chunk has one.
   */
  search(query: string, most: number): Scored[] {
    const words = new Set(query.slice(0, MAX_QUERY_LENGTH).toLowerCase().match(WORD) ?? []);
    const scores = new Float64Array(this.#pages.length);
    for (const word of words) this.#addScores(word, scores);
    const found = [...scores.keys()].filter((chunk) => (scores[chunk] ?? 0) > 0);
    const candidates = found.length > 0 ? found : [...scores.keys()];
    candidates.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
    return candidates
      .slice(0, most)
      .map((chunk) => ({ page: this.#pages[chunk] ?? 0, score: scores[chunk] ?? 0 }));
  }

  #addScores(word: string, scores: Float64Array): void {
    const postings = this.#postings.get(word);
    if (postings === undefined) return;
    const { chunks, counts } = postings;
    const rarity = Math.log(1 + (scores.length - chunks.length + 0.5) / (chunks.length + 0.5));
    for (const [i, chunk] of chunks.entries()) {
      const count = counts[i] ?? 0;
      const length = (this.#lengths[chunk] ?? 0) / this.#averageLength;
      scores[chunk] =
        (scores[chunk] ?? 0) + (rarity * count * (K1 + 1)) / (count + K1 * (1 - B + B * length));
    }
  }
}

/** Where a part ends that is searched for words in one step: at a blank, if there is one in reach. */
function endOfPart(text: string, from: number): number {
  const end = from + STEP_LENGTH;
  if (end >= text.length) return text.length;
  for (let at = end; at > end - 1000; at--) if (text.charCodeAt(at) <= 32) return at;
  return end;
}

function addCounts(
  postings: Map<string, Postings>,
  chunk: number,
  counts: ReadonlyMap<string, number>,
): void {
  for (const [word, count] of counts) {
    const present = postings.get(word);
    if (present === undefined) postings.set(word, { chunks: [chunk], counts: [count] });
    else {
      present.chunks.push(chunk);
      present.counts.push(count);
    }
  }
}
