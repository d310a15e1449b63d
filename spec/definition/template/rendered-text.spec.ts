import { expect } from 'chai';
import { MAX_OUTPUT_LENGTH } from '../../../lib/common/limits.js';
import { appendText, toText } from '../../../lib/definition/template/renderer.js';
import { RenderMeter } from '../../../lib/definition/template/render-meter.js';
import { TemplateError } from '../../../lib/definition/template/expressions/operand.js';
import type { Json } from '../../../lib/common/json/json.js';

const P = { path: 'p' };
const A_OUTPUT = { path: 'a.output' };

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
      expect(toText(value, P)).to.equal(text);
    });
  }

  it('throws for lists and objects whose JSON is over 1 MiB, since nothing can pause while it is made', () => {
    const piece = 'x'.repeat(2 ** 18);
    expect(toText([piece, piece, piece], P)).to.have.length.above(3 * 2 ** 18);
    for (const value of [[piece, piece, piece, piece], { piece, b: { c: piece, d: [piece, piece] } }]) {
      expect(() => toText(value, A_OUTPUT)).to.throw(
        TemplateError,
        /^\{\{a\.output}}: the lists and objects in the texts of one task are together over 1 MiB as JSON: pass/,
      );
    }
    expect(toText('x'.repeat(2 ** 20), P)).to.have.length(2 ** 20);
  });

  it('counts the lists and objects in all texts of one invocation together, and those of the next anew', () => {
    const meter = new RenderMeter();
    const list = ['x'.repeat(2 ** 19)];
    meter.start();
    toText(list, P, meter);
    expect(() => toText(list, P, meter)).to.throw(TemplateError, /together over 1 MiB/);
    meter.start();
    expect(toText(list, P, meter)).to.have.length.above(2 ** 19);
  });

  it('throws for a small value whose shared parts would make endless JSON', () => {
    let shared: Json = ['x'];
    for (let level = 0; level < 60; level++) shared = [shared, shared];
    expect(() => toText(shared, P)).to.throw(TemplateError, /over 1 MiB/);
  });

  it('throws for a value that is nested too deep', () => {
    let deep: Json = [];
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(() => toText(deep, P)).to.throw(TemplateError, /nested deeper/);
  });
});

describe('appendText', () => {
  it('allows texts up to the limit, but not over it', () => {
    const most = 'x'.repeat(MAX_OUTPUT_LENGTH);
    expect(appendText(most, '', P)).to.equal(most);
    expect(() => appendText(most, 'y', A_OUTPUT)).to.throw(TemplateError, /^\{\{a\.output}}: .*10 MiB/);
  });
});

describe('toText of documents (D64)', () => {
  const page = (number: number, text: string): Json => ({ number, text, is_scanned: false, metadata: {} });
  const document = { source: 'a.pdf', format: 'pdf', pages: [page(1, 'one'), page(2, 'two')], metadata: {} };

  it('gives the text of a document, of a page list and of a page, with an empty line between pages', () => {
    expect(toText(document, P)).to.equal('one\n\ntwo');
    expect(
      toText({ parent_source: 'a.pdf', parent_format: 'pdf', pages: [page(2, 'two')], metadata: {} }, P),
    ).to.equal('two');
    expect(toText(page(1, 'one'), P)).to.equal('one');
    expect(toText({ ...document, pages: [] }, P)).to.equal('');
  });

  it('keeps JSON for anything else, such as an object that has pages, and a list of documents', () => {
    const others: Json[] = [
      { pages: [page(1, 'one')] },
      { ...document, pages: [page(1, 'one'), { number: 2 }] },
      { ...document, pages: 'none' },
      { number: 1, text: 'a row of a table' },
      [document],
    ];
    for (const other of others) expect(toText(other, P)).to.equal(JSON.stringify(other));
  });

  it('throws for a document whose text is over 10 MiB, without making it', () => {
    const shared = page(1, 'x'.repeat(2 ** 20));
    const long = { ...document, pages: Array.from({ length: 1_000_000 }, () => shared) };
    expect(() => toText(long, A_OUTPUT)).to.throw(TemplateError, /the rendered text is over 10 MiB/);
    const fits = { ...document, pages: Array.from({ length: 9 }, () => shared) };
    expect(toText(fits, A_OUTPUT)).to.have.length.above(9 * 2 ** 20);
  });
});
