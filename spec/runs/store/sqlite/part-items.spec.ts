import { expect } from 'chai';
import * as fc from 'fast-check';
import { type FactSubject, subjectOf } from '../../../../lib/execution/history/fact-subject.js';
import type { Fact } from '../../../../lib/execution/history/fact.js';
import { canSkip, cutParts, type TextPart } from '../../../../lib/runs/store/sqlite/part-items.js';
import type { WantedItems } from '../../../../lib/runs/store/run-store.js';
import { cases } from '../../../support/measuring/cases.js';

/** Facts whose texts are long, so that few of them make a part. */
const facts: fc.Arbitrary<Fact> = fc
  .record({
    kind: fc.constantFrom('call', 'call', 'call', 'published', 'exhausted'),
    place: fc.constantFrom('', 'sub'),
    task: fc.constantFrom('a', 'b'),
    item: fc.integer({ min: -1, max: 9 }),
    length: fc.constantFrom(10, 3000, 20_000, 90_000),
  })
  .map(({ kind, place, task, item, length }): Fact => {
    if (kind === 'exhausted') return { kind, at: 1, place, count: 1 };
    if (kind === 'published') return { kind, at: 1, place, task };
    const value = `\u{1f600} ${'x'.repeat(length)}`;
    return { kind: 'succeeded', at: 1, place, task, item, value, writes: [], attempts: 1, bytes: length };
  });

const documents = fc.array(fc.array(facts, { minLength: 1, maxLength: 12 }), { maxLength: 6 });

const toText = (document: unknown): string => `${JSON.stringify(document)}\n`;

function readAll(parts: readonly TextPart[]): Fact[] {
  const lines = parts
    .map(({ text }) => text)
    .join('')
    .split('\n');
  return lines.filter((line) => line !== '').flatMap((line) => JSON.parse(line) as Fact[]);
}

function isOther(subject: FactSubject, { place, task, first, last }: WantedItems): boolean {
  if (typeof subject === 'string') return subject === 'nothing';
  const isOfFanOut = subject.place === place && subject.task === task;
  return isOfFanOut && (subject.item < first || subject.item > last);
}

describe('The parts of a packed run (D74)', () => {
  it('have the facts in their order, and those that can be skipped are about other items alone', () => {
    const range = fc.record({
      place: fc.constantFrom('', 'sub'),
      task: fc.constantFrom('a', 'b'),
      first: fc.nat(9),
      last: fc.nat(9),
    });
    fc.assert(
      fc.property(documents, range, (lists, only) => {
        const parts = cutParts(lists.map(toText), 'facts');
        expect(readAll(parts)).to.deep.equal(lists.flat());
        for (const part of parts.filter(({ items }) => canSkip(items, only))) {
          const others = readAll([part]).filter((fact) => isOther(subjectOf(fact), only));
          expect(readAll([part])).to.deep.equal(others);
        }
      }),
      cases(300),
    );
  });

  it('are the texts as they were where these are no whole documents of facts', () => {
    const texts = fc.array(
      fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => text.repeat(20_000)),
      {
        minLength: 1,
        maxLength: 4,
      },
    );
    fc.assert(
      fc.property(
        fc.constantFrom('submission', 'rest'),
        texts,
        documents,
        fc.boolean(),
        (beginning, given, lists, ends) => {
          const first = `${given.join('').replaceAll('\n', ' ')}${ends ? '\n' : ''}`;
          const whole = [first, ...(ends ? lists.map(toText) : [])];
          const parts = cutParts(whole, beginning);
          expect(
            parts
              .map(({ text }) => text)
              .join('')
              .startsWith(first),
          ).to.equal(true);
          const rest = parts
            .map(({ text }) => text)
            .join('')
            .slice(first.length);
          expect(readAll([{ text: rest, items: null }])).to.deep.equal(ends ? lists.flat() : []);
          expect(parts[0]?.items).to.equal(null);
          for (const { text, items } of parts) {
            expect(items === null || (text.startsWith('[') && text.endsWith(']\n'))).to.equal(true);
            expect(text.length).to.be.lessThan(2 ** 19);
          }
        },
      ),
      cases(100),
    );
  });

  it('is one, unchanged, for a run of few facts', () => {
    const texts = ['{"kind": "pipeline"}\n', '[{"kind":"settled", "at":1}]\n'];
    expect(cutParts(texts, 'submission')).to.deep.equal([{ text: texts.join(''), items: null }]);
  });

  it('of 10,000 items are about few of them each', () => {
    const list = Array.from(
      { length: 10_000 },
      (_, item): Fact => ({
        kind: 'succeeded',
        at: 1,
        place: '',
        task: 'a',
        item,
        value: 'x'.repeat(300),
        writes: [],
        attempts: 1,
        bytes: 300,
      }),
    );
    const last: Fact = { kind: 'settled', at: 1 };
    const parts = cutParts([toText({ kind: 'pipeline' }), toText([...list, last])], 'submission');
    const read = (first: number): number =>
      parts.filter(({ items }) => !canSkip(items, { place: '', task: 'a', first, last: first + 49 })).length;
    expect(parts.length).to.be.greaterThan(40);
    for (const first of [0, 5000, 9950]) expect(read(first)).to.be.at.most(4);
  });
});
