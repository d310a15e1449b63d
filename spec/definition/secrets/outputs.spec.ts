import { expect } from 'chai';
import fc from 'fast-check';
import { findSecretProblem } from '../../../lib/definition/secrets/encodings.js';
import { Masker } from '../../../lib/definition/secrets/masker.js';
import {
  copyToJson,
  toJsonOutput,
  toJsonOutputInSteps,
} from '../../../lib/execution/invocation/json-output.js';

const secretText = fc
  .oneof(
    fc.string({ minLength: 4, maxLength: 20 }),
    fc.string({ minLength: 4, maxLength: 12, unit: 'grapheme' }),
  )
  .filter((text) => findSecretProblem(text) === undefined && !/[*]/.test(text));

const options = { limitBytes: 10 * 2 ** 20, artifactPath: () => '/file' };

/** Lists the texts and the keys in a value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [key, ...textsIn(member)]);
}

describe('Masking while an output is copied (D61)', () => {
  it('leaves no secret in any text or key, and nothing else changes', () => {
    const cases = fc.uniqueArray(secretText, { minLength: 1, maxLength: 4 }).chain((secrets) => {
      const text = fc.array(fc.oneof(fc.string(), fc.constantFrom(...secrets)), { maxLength: 4 });
      const joined = text.map((parts) => parts.join(''));
      return fc.tuple(fc.constant(secrets), fc.jsonValue(), fc.dictionary(joined, fc.array(joined)));
    });
    fc.assert(
      fc.property(cases, ([secrets, plain, leaking]) => {
        const masker = new Masker(secrets);
        const output = toJsonOutput({ plain, leaking }, { ...options, masker });
        if (!output.ok) throw new Error(output.error);
        for (const text of textsIn(output.value)) {
          for (const secret of secrets) expect(text).not.to.include(secret.trim());
        }
        const { leaking: masked } = output.value as { leaking: object };
        expect(Object.keys(masked)).to.have.length(Object.keys(leaking).length);
      }),
    );
  });

  it('copies again what was copied without the secrets of this run, however large it is', () => {
    const first = copyToJson({ list: Array.from({ length: 200 }, () => 'sesame-22') }).json;
    const masker = new Masker(['sesame-22']);
    const masked = copyToJson(first, masker).json;
    expect(JSON.stringify(masked)).not.to.include('sesame');
    expect(copyToJson(masked, masker).json).to.equal(masked);
    expect(copyToJson(masked, new Masker(['other-22'])).json).to.deep.equal(masked);
  });

  it('keeps two keys that become equal', () => {
    const masker = new Masker(['sesame-22', 'sesame-23', 'sesame-24']);
    const { json } = copyToJson({ 'sesame-22': 1, 'sesame-23': 2, 'sesame-24': 3 }, masker);
    expect(json).to.deep.equal({ '***': 1, '*** (2)': 2, '*** (3)': 3 });
  });

  it('masks long texts in steps', () => {
    const masker = new Masker(['sesame-22']);
    const value = Array.from({ length: 9 }, () => 'x'.repeat(2 ** 20));
    let steps = 0;
    const copying = toJsonOutputInSteps(value, { ...options, masker });
    while (copying.next().done !== true) steps++;
    expect(steps).to.be.above(3);
  });
});
