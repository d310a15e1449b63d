import { expect } from 'chai';
import { ToolError } from '../../../../lib/common/errors.js';
import { runToEnd, type Steps } from '../../../../lib/common/scheduling/steps.js';
import { Bm25Index, type Scored } from '../../../../lib/tools/builtin/select/bm25.js';
import { type Chunk, smallChunks } from '../../../../lib/tools/builtin/select/chunks.js';
import type { Json, JsonObject } from '../../../../lib/common/json/json.js';

function toIndex(...texts: string[]): Bm25Index {
  return runToEnd(Bm25Index.create(texts.map((text, page): Chunk => ({ page, text }))));
}

function search(index: Bm25Index, query: string, most: number): Scored[] {
  return runToEnd(index.search(query, most));
}

/** The number of pauses in steps. */
function countPauses(steps: Steps<unknown>): number {
  let count = 0;
  while (steps.next().done !== true) count++;
  return count;
}

function toDocument(...texts: string[]): JsonObject {
  const pages: Json[] = texts.map((text, i) => ({ number: i + 1, text, sheet_name: null, metadata: {} }));
  return { source: 's', format: 'text', pages };
}

function differentWords(count: number): string {
  return Array.from({ length: count }, (_, i) => `w${i.toString(36)}`).join(' ');
}

function cut(text: string): string[] {
  return runToEnd(smallChunks(toDocument(text))).map((chunk) => chunk.text.trim());
}

describe('Bm25Index', () => {
  it('scores as BM25 does with k1 = 1.5 and b = 0.75', () => {
    const [best, second, ...others] = search(toIndex('a b', 'a a c d', 'c'), 'a', 10);
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
    expect(search(index, 'größe?', 1)[0]?.page).to.equal(0);
    expect(search(index, 'Выручка', 1)[0]?.page).to.equal(1);
    expect(search(index, 'constructor', 3)).to.have.length(1);
  });

  it('gives the first chunks, with a score of 0, when none matches', () => {
    expect(search(toIndex('a', 'b', 'c'), 'x', 2)).to.deep.equal([
      { page: 0, score: 0 },
      { page: 1, score: 0 },
    ]);
    expect(search(toIndex(), 'x', 2)).to.deep.equal([]);
  });

  it('indexes in steps of at most some kilobytes, however long the chunks are', () => {
    const words = 'word '.repeat(200_000);
    expect(countPauses(Bm25Index.create([{ page: 0, text: words }]))).to.be.above(50);
    const short = Array.from({ length: 100_000 }, () => ({ page: 0, text: 'a' }));
    expect(countPauses(Bm25Index.create(short))).to.be.above(50);
  });

  it('holds memory for the words of a long chunk while it is indexed, a little in every step', () => {
    const held: number[] = [];
    const text = differentWords(100_000);
    const index = runToEnd(Bm25Index.create([{ page: 0, text }], (bytes) => held.push(bytes)));
    expect(Math.max(...held)).to.be.below(2 ** 20);
    const total = held.reduce((sum, bytes) => sum + bytes, 0);
    expect(total).to.be.above(20_000_000);
    expect(index.bytes).to.be.closeTo(total, 1_000_000);
  });

  it('stops when there is no memory left, and at more than 500,000 different words', () => {
    const text = differentWords(600_000);
    const stop = (): void => {
      throw new ToolError('no memory');
    };
    expect(() => runToEnd(Bm25Index.create([{ page: 0, text }], stop))).to.throw('no memory');
    expect(() => runToEnd(Bm25Index.create([{ page: 0, text }])))
      .to.throw(ToolError, 'more than 500,000 different words')
      .with.property('retryable', false);
  });

  it('searches many chunks in steps, for at most 1000 different words', () => {
    const chunks = Array.from({ length: 50_000 }, (_, page) => ({
      page,
      text: `a b${'c a'.repeat(page % 7)}`,
    }));
    const index = runToEnd(Bm25Index.create(chunks));
    expect(countPauses(index.search('a b c', 10_000))).to.be.above(50);
    expect(search(index, 'a b c', 30).map(({ score }) => score)).to.deep.equal(
      search(index, 'a b c', 50_000)
        .map(({ score }) => score)
        .sort((x, y) => y - x)
        .slice(0, 30),
    );
    const words = differentWords(1000);
    expect(search(index, `${words} a`, 1)[0]?.score).to.equal(0);
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

  it('looks at lines and letters in steps, however long a table, a blank or a sentence is', () => {
    for (const text of [
      '|\n'.repeat(500_000),
      '\n'.repeat(500_000),
      'a'.repeat(1_000_000),
      'a '.repeat(500_000),
    ])
      expect(countPauses(smallChunks(toDocument(text)))).to.be.above(50);
  });

  it('refuses more than 100,000 chunks, and cuts long headings that each chunk would repeat', () => {
    expect(() => cut('a:\n\n'.repeat(100_001)))
      .to.throw(ToolError, 'more than 100,000 headings, tables and parts of prose')
      .with.property('retryable', false);
    const page = { number: 1, text: 'A:\n\nb c', sheet_name: null, metadata: { heading: 'x'.repeat(1000) } };
    const [chunk] = runToEnd(smallChunks({ source: 's', pages: [page] }));
    expect(chunk?.text).to.equal(`${'x'.repeat(200)}\nA:\nb c\n`);
  });

  it('loses no word', () => {
    const text = 'A b c.\n\nHEADING\n\nd | e\nf | g\n\n1. h: i\n\nj k';
    expect(cut(text).join(' ').match(/\w+/g)).to.deep.equal(text.match(/\w+/g));
  });
});
