import { expect } from 'chai';
import * as fc from 'fast-check';
import { findJsonSyntaxError } from '../../../lib/definition/text/json-syntax-error.js';
import { cases } from '../../support/measuring/cases.js';

describe('findJsonSyntaxError', () => {
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
    it(`finds the error at ${offset} in ${JSON.stringify(text)}`, () => {
      expect(findJsonSyntaxError(text)?.offset).to.equal(offset);
      expect(findJsonSyntaxError(text)?.expected).to.match(expected);
    });
  }

  it('finds an error after a string of any length, with and without escapes', () => {
    for (const piece of ['a', String.raw`\n`]) {
      const text = `"${piece.repeat(2 ** 24)}"`;
      expect(findJsonSyntaxError(text)).to.equal(undefined);
      expect(findJsonSyntaxError(`[${text}`)?.offset).to.equal(text.length + 1);
    }
  });

  it('finds an error exactly in the texts that JSON.parse rejects', () => {
    const damaged = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '}', ']', '"', ' ', 'x', '0', '\\', '\n'))
      .map(([json, at, insert]) => {
        const place = at % (json.length + 1);
        return json.slice(0, place) + insert + json.slice(insert === '' ? place + 1 : place);
      });
    fc.assert(
      fc.property(fc.oneof(fc.json(), damaged, fc.string()), (text) => {
        expect(findJsonSyntaxError(text) === undefined).to.equal(parses(text));
      }),
      cases(3000),
    );
  });

  it('finds an error in a text nested deeper than the stack', () => {
    expect(findJsonSyntaxError('['.repeat(1_000_000))?.offset).to.equal(1_000_000);
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
