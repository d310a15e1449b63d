import { expect } from 'chai';
import fc from 'fast-check';
import { parseJsonInSteps } from '../../lib/common/json/parse-json.js';
import { runToEnd } from '../../lib/common/scheduling/steps.js';
import { cases } from '../support/measuring/cases.js';

/** Includes keys that look like numbers, escapes, repeated keys, and keys that JavaScript treats specially. */
const anyKey = fc.oneof(fc.constantFrom('__proto__', '1', '0', 'a', '\\"', 'constructor'), fc.string());
const { value: anyJson } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.oneof(fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 8 }),
    fc.array(fc.tuple(anyKey, tie('value')), { maxLength: 8 }).map(Object.fromEntries),
  ),
}));
const anyText = fc
  .tuple(anyJson, fc.constantFrom(undefined, 1, '\t'))
  .map(([value, space]) => JSON.stringify(value, null, space));

function parse(text: string | readonly string[], stepLength: number): string | SyntaxError {
  try {
    return JSON.stringify(runToEnd(parseJsonInSteps(text, stepLength)));
  } catch (error) {
    return error as SyntaxError;
  }
}

describe('A JSON text that is parsed in steps', () => {
  it('has the value that JSON.parse reads, with its keys in the same order', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 0, max: 60 }), (text, stepLength) => {
        expect(parse(text, stepLength)).to.equal(JSON.stringify(JSON.parse(text)));
      }),
      cases(2000),
    );
  });

  it('has the same value when it comes in pieces, wherever they are cut', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 0, max: 60 }), fc.array(fc.nat()), (text, stepLength, cuts) => {
        const offsets = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
        const pieces = offsets.slice(1).map((end, index) => text.slice(offsets[index], end));
        expect(parse(pieces, stepLength)).to.equal(JSON.stringify(JSON.parse(text)));
      }),
      cases(2000),
    );
  });

  it('takes a step for every 64 KiB of a text, however many escapes it has', () => {
    const text = '"\\\n\u0007é😀'.repeat(200_000);
    for (const value of [text, [text], { [text]: text }]) {
      const json = JSON.stringify(value);
      const steps = parseJsonInSteps(json);
      let count = 0;
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) count++;
      expect(step.value).to.deep.equal(value);
      expect(count).to.be.within(json.length / 2 ** 16 - 1, json.length / 2 ** 15);
    }
  });

  it('may have more space than a step between the brackets of an empty list or object', () => {
    const space = ' '.repeat(100);
    for (const text of [`{${space}}`, `[${space}]`, `[{${space}},${space}[${space}]${space}]${space}`]) {
      expect(parse(text, 10)).to.equal(JSON.stringify(JSON.parse(text)));
    }
  });

  it('is refused exactly when JSON.parse refuses it', () => {
    const edit = fc.tuple(
      fc.nat(),
      fc.nat(2),
      fc.constantFrom('', ',', '"', ':', '[', ']', '{', '}', '\\', ' ', '1'),
    );
    fc.assert(
      fc.property(
        anyText,
        fc.array(edit, { minLength: 1, maxLength: 3 }),
        fc.nat(20),
        (text, edits, stepLength) => {
          let changed = text;
          for (const [at, length, inserted] of edits) {
            const offset = at % (changed.length + 1);
            changed = changed.slice(0, offset) + inserted + changed.slice(offset + length);
          }
          let expected: string | undefined;
          try {
            expected = JSON.stringify(JSON.parse(changed));
          } catch (error) {
            expect(error).to.be.instanceOf(SyntaxError);
          }
          const parsed = parse(changed, stepLength);
          if (expected === undefined) expect(parsed, changed).to.be.instanceOf(SyntaxError);
          else expect(parsed, changed).to.equal(expected);
        },
      ),
      cases(5000),
    );
  });

  it('is refused with an unfinished value, two commas, or something after its end', () => {
    for (const text of [
      '[1,2',
      '[1,,2]',
      '[1,2,]',
      '{"a":1,}',
      '[1,2}',
      '{"a":[1]',
      '[1] 2',
      '["a',
      '{"a" 1}',
      '[',
    ]) {
      for (const stepLength of [0, 1, 3]) expect(parse(text, stepLength), text).to.be.instanceOf(SyntaxError);
    }
  });

  it('takes a step for every 16 KiB, whether it has many members or long ones', () => {
    const keys = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`key ${i}`, i]));
    const nested = Array.from({ length: 40 }, (_, i) => ({
      [`list ${i}`]: Array.from({ length: 5000 }, () => [i]),
    }));
    for (const value of [keys, nested, { keys, nested }]) {
      const text = JSON.stringify(value);
      const steps = [...parseJsonInSteps(text)].length;
      expect(steps).to.be.within(text.length / 2 ** 14, text.length / 2 ** 13 + 200);
    }
  });
});
