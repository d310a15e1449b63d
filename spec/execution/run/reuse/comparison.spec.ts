import { expect } from 'chai';
import type { Json } from '../../../../lib/common/json/json.js';
import { Comparison, EqualPairs } from '../../../../lib/execution/run/reuse/comparison.js';
import type { Write } from '../../../../lib/execution/session/session-overrides.js';
import { itTimed, measureCpuMsSync } from '../../../support/measuring/cpu-time.js';

const field = (name: string) => ({ kind: 'field', name, index: undefined }) as const;
const zeros = (length: number): Json[] => Array.from({ length }, () => 0);

describe('Comparison of what a task reads in two runs (D60)', () => {
  it('finds equal values at the end of a path, whatever the rest of them', () => {
    const [before, now] = [
      { a: { b: [1, { c: 2 }] }, other: 1 },
      { other: 2, a: { b: [1, { c: 2 }] } },
    ];
    expect(new Comparison().isEqualAt(before, now, [field('a'), field('b')])).to.equal(true);
    expect(new Comparison().isEqualAt(before, now, [field('other')])).to.equal(false);
    expect(new Comparison().isEqualAt(before, undefined, [])).to.equal(false);
  });

  it('compares texts as they are, and never reads them as JSON', () => {
    const [before, now] = [{ text: '{"p": 1, "q": 1}' }, { text: '{"p": 1, "q": 2}' }];
    expect(new Comparison().isEqualAt(before, now, [field('text'), field('p')])).to.equal(false);
    expect(new Comparison().isEqualAt(before, { ...before }, [field('text'), field('p')])).to.equal(true);
  });

  it('counts values as different when there are more than 100,000 parts of one task to compare', () => {
    const comparison = new Comparison();
    expect(comparison.isEqual(zeros(60_000), zeros(60_000))).to.equal(true);
    expect(comparison.isEqual(zeros(60_000), zeros(60_000))).to.equal(false);
    expect(new Comparison().isEqual(zeros(100_001), zeros(100_001))).to.equal(false);
  });

  it('compares a large value that many tasks read only once', () => {
    const pairs = new EqualPairs();
    const [before, now] = [zeros(90_000), zeros(90_000)];
    for (let task = 0; task < 5; task++) {
      const comparison = new Comparison(pairs);
      for (let read = 0; read < 5; read++) expect(comparison.isEqual(before, now)).to.equal(true);
    }
  });

  itTimed(
    'finds the keys that were written otherwise, in time that grows with their number and not faster',
    () => {
      const write = (index: number, value: Json): Write => ({
        key: `k${index}`,
        value,
        append: false,
        sizeBytes: 8,
      });
      const before = Array.from({ length: 50_000 }, (_, index) => write(index, index));
      const now = before.map((other, index) => write(index, index % 10_000 === 7 ? 'other' : other.value));
      let changed: string[] = [];
      const cpuMs = measureCpuMsSync(() => {
        changed = new Comparison().findChangedKeys(before, [...now, write(7, 'again'), write(-1, 0)]);
      });
      expect(changed).to.deep.equal(['k7', 'k10007', 'k20007', 'k30007', 'k40007', 'k-1']);
      expect(cpuMs).to.be.below(1000);
    },
  );
});
