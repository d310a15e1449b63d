import { expect } from 'chai';
import { MAX_OUTPUT_LENGTH } from '../../../lib/common/limits.js';
import { appendText, toText } from '../../../lib/definition/template/renderer.js';
import { TemplateError } from '../../../lib/definition/template/reference.js';
import type { Json } from '../../../lib/common/json.js';

describe('toText (D10)', () => {
  const cases: [Json, string][] = [
    ['text', 'text'],
    ['', ''],
    ['"quoted"', '"quoted"'],
    [null, ''],
    [1.5, '1.5'],
    [-0, '0'],
    [1e21, '1e+21'],
    [true, 'true'],
    [[1, 'a', null], '[1,"a",null]'],
    [{ a: { b: [] } }, '{"a":{"b":[]}}'],
  ];
  for (const [value, text] of cases) {
    it(`formats ${JSON.stringify(value)} as ${JSON.stringify(text)}`, () => {
      expect(toText(value, 'p')).to.equal(text);
    });
  }

  it('throws for a value whose JSON is over 10 MiB, and names the path', () => {
    const piece = 'x'.repeat(MAX_OUTPUT_LENGTH / 4);
    expect(toText([piece, piece, piece], 'p')).to.have.length.above(MAX_OUTPUT_LENGTH / 2);
    expect(() => toText([piece, piece, piece, piece], 'a.output')).to.throw(
      TemplateError,
      /^\{\{a\.output}}: .*10 MiB/,
    );
    expect(() => toText({ piece, b: { c: piece, d: [piece, piece] } }, 'p')).to.throw(
      TemplateError,
      /10 MiB/,
    );
  });

  it('throws for a small value whose shared parts would make endless JSON', () => {
    let shared: Json = ['x'];
    for (let level = 0; level < 60; level++) shared = [shared, shared];
    expect(() => toText(shared, 'p')).to.throw(TemplateError, /10 MiB/);
  });

  it('throws for a value that is nested too deep', () => {
    let deep: Json = [];
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(() => toText(deep, 'p')).to.throw(TemplateError, /nested deeper/);
  });
});

describe('appendText', () => {
  it('allows texts up to the limit, but not over it', () => {
    const most = 'x'.repeat(MAX_OUTPUT_LENGTH);
    expect(appendText(most, '', 'p')).to.equal(most);
    expect(() => appendText(most, 'y', 'a.output')).to.throw(TemplateError, /^\{\{a\.output}}: .*10 MiB/);
  });
});
