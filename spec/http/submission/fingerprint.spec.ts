import { expect } from 'chai';
import fc from 'fast-check';
import { createFingerprint } from '../../../lib/http/routes/fingerprint.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';
import { cases } from '../../support/measuring/cases.js';

/** Returns a copy with the keys of every object in reverse order. */
function reverseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reverseKeys(member)]),
  );
}

/** Equal exactly for values that differ at most in the order of keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

describe('createFingerprint (D36)', () => {
  const small = fc.jsonValue({ maxDepth: 3 });

  it('is the same for two values if and only if they differ at most in the order of keys', () => {
    fc.assert(
      fc.property(fc.array(small, { minLength: 2, maxLength: 8 }), (values) => {
        for (const value of values) {
          expect(createFingerprint('p', reverseKeys(value))).to.equal(createFingerprint('p', value));
        }
        const fingerprints = new Set(values.map((value) => createFingerprint('p', value)));
        expect(fingerprints.size).to.equal(new Set(values.map(canonical)).size);
      }),
      cases(500),
    );
  });

  it('differs for similar objects, texts and numbers', () => {
    const values: unknown[] = [null, 0, '', '0', [], {}, [[]], [{}], { '': null }, true, false, 'null'];
    for (let a = 0; a < 40; a++) {
      for (let b = 0; b < 40; b++) values.push({ a, b }, [a, b], `${a} ${b}`, { [`${a}`]: b, z: { a: b } });
    }
    const fingerprints = new Set(values.map((value) => createFingerprint('p', value)));
    expect(fingerprints.size).to.equal(values.length);
    expect(createFingerprint('plan', {})).not.to.equal(createFingerprint('pipeline', {}));
  });

  itTimed('takes time in proportion to the size of a value, even with many keys in one object', () => {
    const create = (keys: number): object =>
      Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${(index * 7919) % keys}`, index]));
    const [one, ten] = [create(5000), create(50_000)];
    for (let warm = 0; warm < 5; warm++) createFingerprint('p', one);
    const measure = (value: object, times: number): number =>
      measureCpuMsSync(() => {
        for (let count = 0; count < times; count++) createFingerprint('p', value);
      });
    expect(measure(ten, 3)).to.be.below(5 * measure(one, 30) + 20);
  });
});
