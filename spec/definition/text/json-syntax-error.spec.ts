import { expect } from 'chai';
import * as fc from 'fast-check';
import { faultOf } from '../../../lib/definition/text/json-syntax-error.js';

describe('a fault in JSON', () => {
  const FAULTS: [text: string, offset: number, expected: RegExp][] = [
    ['{a:1}', 1, /key in double quotes/],
    ["{'a':1}", 1, /key in double quotes/],
    ['{"a":1', 6, /","/],
    ['{"a":}', 5, /value/],
    ['{"b":{}, "a":}', 13, /value/],
    ['{"a":1,}', 7, /key/],
    ['{"a" 1}', 5, /":"/],
    ['[1,]', 3, /value/],
    ['[1', 2, /closing bracket/],
    ['{"a":"x\ny"}', 5, /value/],
    ['{"a":1} x', 8, /nothing more/],
    ['{"a": tru}', 6, /value/],
    ['', 0, /value/],
    ['[01]', 1, /value/],
  ];

  for (const [text, offset, expected] of FAULTS) {
    it(`stands at ${offset} in ${JSON.stringify(text)}`, () => {
      expect(faultOf(text)?.offset).to.equal(offset);
      expect(faultOf(text)?.expected).to.match(expected);
    });
  }

  it('is found behind a string of any length, with escapes or without', () => {
    for (const piece of ['a', String.raw`\n`]) {
      const text = `"${piece.repeat(2 ** 24)}"`;
      expect(faultOf(text)).to.equal(undefined);
      expect(faultOf(`[${text}`)?.offset).to.equal(text.length + 1);
    }
  });

  it('is found exactly in the texts that JSON.parse refuses', () => {
    const damaged = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '}', ']', '"', ' ', 'x', '0', '\\', '\n'))
      .map(([json, at, insert]) => {
        const place = at % (json.length + 1);
        return json.slice(0, place) + insert + json.slice(insert === '' ? place + 1 : place);
      });
    fc.assert(
      fc.property(fc.oneof(fc.json(), damaged, fc.string()), (text) => {
        expect(faultOf(text) === undefined).to.equal(parses(text));
      }),
      { numRuns: 3000 },
    );
  });

  it('is found in text nested deeper than any stack', () => {
    expect(faultOf('['.repeat(1_000_000))?.offset).to.equal(1_000_000);
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
