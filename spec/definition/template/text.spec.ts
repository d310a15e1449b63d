import { expect } from 'chai';
import { joined, TEXT_LIMIT, textOf } from '../../../lib/definition/template/renderer.js';
import { TemplateError } from '../../../lib/definition/template/template.js';
import type { Json } from '../../../lib/common/json.js';

describe('textOf (D10)', () => {
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
    it(`writes ${JSON.stringify(value)} as ${JSON.stringify(text)}`, () => {
      expect(textOf(value, 'p')).to.equal(text);
    });
  }

  it('refuses a value whose JSON is over 10 MiB, and names the path', () => {
    const piece = 'x'.repeat(TEXT_LIMIT / 4);
    expect(textOf([piece, piece, piece], 'p')).to.have.length.above(TEXT_LIMIT / 2);
    expect(() => textOf([piece, piece, piece, piece], 'a.output')).to.throw(
      TemplateError,
      /^\{\{a\.output}}: .*10 MiB/,
    );
    expect(() => textOf({ piece, b: { c: piece, d: [piece, piece] } }, 'p')).to.throw(
      TemplateError,
      /10 MiB/,
    );
  });

  it('refuses a small value that shares its parts so often that its JSON would never end', () => {
    let shared: Json = ['x'];
    for (let level = 0; level < 60; level++) shared = [shared, shared];
    expect(() => textOf(shared, 'p')).to.throw(TemplateError, /10 MiB/);
  });

  it('refuses a value that nests without end', () => {
    let deep: Json = [];
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(() => textOf(deep, 'p')).to.throw(TemplateError, /nests deeper/);
  });
});

describe('joined', () => {
  it('allows texts up to the limit and none over it', () => {
    const most = 'x'.repeat(TEXT_LIMIT);
    expect(joined(most, '', 'p')).to.equal(most);
    expect(() => joined(most, 'y', 'a.output')).to.throw(TemplateError, /^\{\{a\.output}}: .*10 MiB/);
  });
});
