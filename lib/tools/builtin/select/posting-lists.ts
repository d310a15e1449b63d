import { copyText } from '../../../common/text.js';

/** Measured memory of a word in a map of words, besides its text. */
const WORD_BYTES = 200;
/** Of three numbers. */
const POSTING_BYTES = 12;

/**
 * The chunks that hold a word, and how often, for all words of a document. Every posting is a few numbers, and knows the
 * one of the same word before it: a list of each word would take many times as much.
 */
export class PostingLists {
  /** In several maps, since a map with more words holds the event loop whenever it grows. */
  readonly #words: Map<string, number>[] = [];
  #wordCount = 0;
  #wordLength = 0;
  /** By word: its last posting, and how many it has. */
  readonly #last = new NumberList();
  readonly #chunkCounts = new NumberList();
  /** By posting, from 1. */
  readonly #chunks = new NumberList(1);
  readonly #counts = new NumberList(1);
  readonly #previous = new NumberList(1);

  get wordCount(): number {
    return this.#wordCount;
  }

  /** Memory of the lists, about. */
  get bytes(): number {
    return this.wordCount * WORD_BYTES + 2 * this.#wordLength + this.#chunks.length * POSTING_BYTES;
  }

  /** Counts a word of a chunk, which comes after the chunks before it. */
  add(word: string, chunk: number): void {
    const known = this.#find(word);
    if (known === undefined) {
      if (this.#wordCount % WORDS_PER_MAP === 0) this.#words.push(new Map());
      // A part of a text would keep all of it.
      this.#words.at(-1)?.set(copyText(word), this.#wordCount++);
      this.#wordLength += word.length;
      this.#last.push(this.#push(chunk, 0));
      this.#chunkCounts.push(1);
      return;
    }
    const last = this.#last.at(known);
    if (this.#chunks.at(last) === chunk) this.#counts.set(last, this.#counts.at(last) + 1);
    else {
      this.#last.set(known, this.#push(chunk, last));
      this.#chunkCounts.set(known, this.#chunkCounts.at(known) + 1);
    }
  }

  #find(word: string): number | undefined {
    for (const words of this.#words) {
      const known = words.get(word);
      if (known !== undefined) return known;
    }
    return undefined;
  }

  #push(chunk: number, previous: number): number {
    this.#chunks.push(chunk);
    this.#counts.push(1);
    this.#previous.push(previous);
    return this.#chunks.length - 1;
  }

  countChunks(word: string): number {
    const known = this.#find(word);
    return known === undefined ? 0 : this.#chunkCounts.at(known);
  }

  /** Calls `visit` with each chunk that holds the word and how often it does, from the last one. Pauses between chunks. */
  *visit(word: string, visit: (chunk: number, count: number) => void): Generator<undefined, void> {
    const known = this.#find(word);
    let posting = known === undefined ? 0 : this.#last.at(known);
    for (let visited = 1; posting !== 0; visited++) {
      visit(this.#chunks.at(posting), this.#counts.at(posting));
      posting = this.#previous.at(posting);
      if (visited % VISITED_AT_ONCE === 0) yield;
    }
  }
}

const WORDS_PER_MAP = 2 ** 17;

const VISITED_AT_ONCE = 10_000;

const BLOCK_BITS = 10;
const BLOCK_LENGTH = 2 ** BLOCK_BITS;

/** Numbers from 0 to 2^32 - 1, in blocks: none is copied when it grows. */
class NumberList {
  readonly #blocks: Uint32Array[] = [];
  length = 0;

  /** @param zeros with which it begins */
  constructor(zeros = 0) {
    for (let i = 0; i < zeros; i++) this.push(0);
  }

  push(value: number): void {
    if (this.length % BLOCK_LENGTH === 0) this.#blocks.push(new Uint32Array(BLOCK_LENGTH));
    this.set(this.length++, value);
  }

  at(position: number): number {
    return this.#blocks[position >> BLOCK_BITS]?.[position % BLOCK_LENGTH] ?? 0;
  }

  set(position: number, value: number): void {
    const block = this.#blocks[position >> BLOCK_BITS];
    if (block !== undefined) block[position % BLOCK_LENGTH] = value;
  }
}
