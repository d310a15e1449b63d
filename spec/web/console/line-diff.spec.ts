import { expect } from 'chai';
import fc from 'fast-check';
import { type DiffHunk, diffLines, MOST_CHANGED_LINES } from '../../../web/console/run/model/line-diff.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';
import { cases } from '../../support/measuring/cases.js';

const SIGNS = { same: ' ', added: '+', removed: '-' };

/** The difference as other tools print it: places, signs and lines. */
function print(hunks: readonly DiffHunk[] | undefined): string[] | undefined {
  return hunks?.flatMap(({ before, after, lines }) => [
    `@ ${before} ${after}`,
    ...lines.map(({ kind, text }) => SIGNS[kind] + text),
  ]);
}

const toText = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** Puts the later text together from the earlier one and the difference. */
function apply(before: string, hunks: readonly DiffHunk[]): string {
  const old = before.split('\n').slice(0, -1);
  const now: string[] = [];
  let taken = 0;
  for (const hunk of hunks) {
    now.push(...old.slice(taken, hunk.before - 1));
    expect(now.length).to.equal(hunk.after - 1);
    now.push(...hunk.lines.filter(({ kind }) => kind !== 'removed').map(({ text }) => text));
    const own = hunk.lines.filter(({ kind }) => kind !== 'added').map(({ text }) => text);
    expect(old.slice(hunk.before - 1, hunk.before - 1 + own.length)).to.deep.equal(own);
    taken = hunk.before - 1 + own.length;
  }
  return toText([...now, ...old.slice(taken)]);
}

/** The fewest lines that must be added and removed, by the table of all pairs of lines. */
function countFewest(old: readonly string[], now: readonly string[]): number {
  let row = Array.from({ length: now.length + 1 }, (_, index) => index);
  for (const [x, line] of old.entries()) {
    const next = [x + 1];
    for (const [y, other] of now.entries()) {
      const least = Math.min(row[y + 1] ?? 0, next[y] ?? 0) + 1;
      next.push(line === other ? Math.min(least, row[y] ?? 0) : least);
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

describe('The difference of two texts', () => {
  it('lists what was added and removed with three lines around it, and where it is', () => {
    const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
    const after = ['a', 'b', 'c', 'd', 'E', 'f', 'g', 'h', 'i', 'j'];
    expect(print(diffLines(toText(before), toText(after)))).to.deep.equal(
      '@ 2 2| b| c| d|-e|+E| f| g| h| i|+j'.split('|'),
    );
    const far = Array.from({ length: 30 }, (_, index) => `line ${index}`);
    const changed = far.with(3, 'three').with(20, 'twenty');
    expect(
      diffLines(toText(far), toText(changed))?.map((hunk) => [hunk.before, hunk.lines.length]),
    ).to.deep.equal([
      [1, 8],
      [18, 8],
    ]);
  });

  it('is empty for equal texts, and for those that differ in the end of their last line only', () => {
    expect(diffLines('a\nb\n', 'a\nb\n')).to.deep.equal([]);
    expect(diffLines('a\nb\n', 'a\nb')).to.deep.equal([]);
    expect(print(diffLines('', 'a'))).to.deep.equal(['@ 1 1', '+a']);
    expect(print(diffLines('a\na\na', 'a\na'))).to.deep.equal(['@ 1 1', ' a', ' a', '-a']);
  });

  it('leads from any text to any other, with the fewest lines added and removed', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 });
    fc.assert(
      fc.property(lines, lines, (old, now) => {
        const hunks = diffLines(toText(old), toText(now)) ?? [];
        expect(apply(toText(old), hunks)).to.equal(toText(now));
        const changed = hunks.flatMap(({ lines: all }) => all.filter(({ kind }) => kind !== 'same'));
        expect(changed.length).to.equal(countFewest(old, now));
      }),
      cases(500),
    );
  });

  describe('of texts of 1 MB', () => {
    const MOST_MS = 1500;
    const big = (name: string, count: number, more = ''): string[] =>
      Array.from({ length: count }, (_, index) => `${name} ${index} ${more}`);

    function measure(before: string, after: string): { hunks: readonly DiffHunk[] | undefined; ms: number } {
      let hunks: readonly DiffHunk[] | undefined;
      const ms = measureCpuMsSync(() => {
        hunks = diffLines(before, after);
      });
      return { hunks, ms };
    }

    itTimed('finds one changed line among 500,000 short ones', () => {
      const lines = Array.from({ length: 500_000 }, (_, index) => String(index % 10));
      const { hunks, ms } = measure(toText(lines), toText(lines.with(250_000, 'x')));
      expect(hunks).to.have.length(1);
      expect(ms).to.be.lessThan(MOST_MS);
    });

    for (const [what, before, after] of [
      ['with no line in common', big('old', 24_000, 'x'.repeat(30)), big('new', 24_000, 'x'.repeat(30))],
      [
        'that nearly fit in many ways',
        Array.from({ length: 24_000 }, (_, index) => String(index % 7)),
        Array.from({ length: 24_000 }, (_, index) => String(index % 5)),
      ],
    ] as const) {
      itTimed(`gives up soon on texts ${what}`, () => {
        const { hunks, ms } = measure(toText(before), toText(after));
        expect(hunks).to.equal(undefined);
        expect(ms).to.be.lessThan(MOST_MS);
      });
    }

    itTimed('finds as many changed lines as its limit allows, and no more', () => {
      const lines = big('line', 20_000);
      const change = (count: number): string[] =>
        lines.map((line, index) => (index % 15 === 0 && index / 15 < count ? `${line}!` : line));
      const { hunks, ms } = measure(toText(lines), toText(change(MOST_CHANGED_LINES / 2)));
      expect(hunks).to.have.length(MOST_CHANGED_LINES / 2);
      expect(ms).to.be.lessThan(MOST_MS);
      expect(diffLines(toText(lines), toText(change(MOST_CHANGED_LINES / 2 + 1)))).to.equal(undefined);
    });
  });
});
