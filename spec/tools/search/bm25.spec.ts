import { expect } from 'chai';
import { runToEnd } from '../../../lib/common/steps.js';
import { Bm25Index } from '../../../lib/tools/search/bm25.js';
import { type Chunk, smallChunks } from '../../../lib/tools/search/chunks.js';
import type { Json, JsonObject } from '../../../lib/common/json.js';

function toIndex(...texts: string[]): Bm25Index {
  return runToEnd(Bm25Index.create(texts.map((text, page): Chunk => ({ page, text }))));
}

function toDocument(...texts: string[]): JsonObject {
  const pages: Json[] = texts.map((text, i) => ({ number: i + 1, text, sheet_name: null, metadata: {} }));
  return { source: 's', format: 'text', pages };
}

function cut(text: string): string[] {
  return runToEnd(smallChunks(toDocument(text))).map((chunk) => chunk.text.trim());
}

describe('Bm25Index', () => {
  it('scores as BM25 does with k1 = 1.5 and b = 0.75', () => {
    const [best, second, ...others] = toIndex('a b', 'a a c d', 'c').search('a', 10);
    const score = (count: number, length: number): number =>
      (Math.log(1 + (3 - 2 + 0.5) / (2 + 0.5)) * count * 2.5) /
      (count + 1.5 * (0.25 + (0.75 * length) / (7 / 3)));
    expect(best?.page).to.equal(1);
    expect(best?.score).to.be.closeTo(score(2, 4), 1e-12);
    expect(second?.page).to.equal(0);
    expect(second?.score).to.be.closeTo(score(1, 2), 1e-12);
    expect(others).to.deep.equal([]);
  });

  it('finds words in any case and script, next to any punctuation', () => {
    const index = toIndex('Die GRÖẞE, der Fluß.', 'выручка (2024): 5', '__proto__ constructor');
    expect(index.search('größe?', 1)[0]?.page).to.equal(0);
    expect(index.search('Выручка', 1)[0]?.page).to.equal(1);
    expect(index.search('constructor', 3)).to.have.length(1);
  });

  it('gives the first chunks, with a score of 0, when none matches', () => {
    expect(toIndex('a', 'b', 'c').search('x', 2)).to.deep.equal([
      { page: 0, score: 0 },
      { page: 1, score: 0 },
    ]);
    expect(toIndex().search('x', 2)).to.deep.equal([]);
  });

  it('indexes in steps of at most some kilobytes, however long the chunks are', () => {
    const steps = Bm25Index.create([{ page: 0, text: 'word '.repeat(200_000) }]);
    let count = 0;
    for (let step = steps.next(); step.done !== true; step = steps.next()) count++;
    expect(count).to.be.above(50);
  });
});

describe('smallChunks', () => {
  it('cuts prose after about 512 words, at the end of a sentence', () => {
    const chunks = cut('One two three four five. '.repeat(300));
    expect(chunks).to.have.length(3);
    for (const chunk of chunks) expect(chunk.endsWith('.')).to.equal(true);
    expect(chunks[0]?.split(/\s+/)).to.have.length(515);
  });

  it('keeps a table whole, and a heading with what is below it', () => {
    const table = Array.from({ length: 300 }, (_, row) => `row ${row} | 1 | 2`).join('\n');
    const prose = 'a few words of prose, again and again. '.repeat(20);
    expect(
      cut(`${prose}\n\n${table}\n\nNet Income\n\n${prose}`).map((chunk) => chunk.split('\n')[0]),
    ).to.deep.equal([prose.trimEnd(), 'row 0 | 1 | 2', 'Net Income']);
  });

  it('takes up to 15 words before a table for its heading, and cuts off what is longer', () => {
    const table = 'a | 1\nb | 2';
    const words = (count: number): string => 'word '.repeat(count).trim();
    expect(cut(`${words(15)}\n\n${table}`)).to.have.length(1);
    expect(cut(`${words(16)}\n\n${table}`)).to.deep.equal([words(16), table]);
  });

  it('loses no word', () => {
    const text = 'A b c.\n\nHEADING\n\nd | e\nf | g\n\n1. h: i\n\nj k';
    expect(cut(text).join(' ').match(/\w+/g)).to.deep.equal(text.match(/\w+/g));
  });
});
