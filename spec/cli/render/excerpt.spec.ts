import { expect } from 'chai';
import * as fc from 'fast-check';
import { excerpt } from '../../../lib/cli/render/excerpt.js';
import { widthOf } from '../../../lib/cli/render/text.js';

describe('an excerpt', () => {
  const of = (line: string, column: number, columns = 60): string[] =>
    excerpt([line], { line: 1, column }, columns);

  it('shows the line with its number and a caret under the word', () => {
    const lines = ['a: 1', 'tool: fetch_dta', 'b: 2'];
    expect(excerpt(lines, { line: 2, column: 7 }, 60)).to.deep.equal([
      '    2 | tool: fetch_dta',
      '      |       ^^^^^^^^^',
    ]);
  });

  it('underlines a quoted string whole, and one character of anything else', () => {
    expect(of('x: "a b" # c', 4)[1]).to.equal('      |    ^^^^^');
    expect(of("x: 'a b'", 4)[1]).to.equal('      |    ^^^^^');
    expect(of('x: {a}', 4)[1]).to.equal('      |    ^');
    expect(of('x:', 3)[1]).to.equal('      |   ^');
  });

  it('aligns the caret behind tabs and wide characters', () => {
    const [tabbed, under] = of('\tx: mok', 5);
    expect(tabbed).to.equal('    1 |     x: mok');
    expect(under).to.equal('      |        ^^^');
    expect(of('名前: mok', 5)[1]).to.equal('      |       ^^^');
    expect(of('👩‍👩‍👧: mok', '👩‍👩‍👧: '.length + 1)[1]).to.equal('      |     ^^^');
  });

  it('clips a long line around the caret', () => {
    const line = `${'a'.repeat(500)} here ${'b'.repeat(500)}`;
    const [text = '', caret = ''] = of(line, 502);
    expect(text).to.match(/…a+ here b+…$/);
    expect(text.length).to.be.at.most(60);
    expect(text.slice(caret.indexOf('^'), caret.lastIndexOf('^') + 1)).to.equal('here');
  });

  it('shows control characters instead of obeying them', () => {
    expect(of('a: \u001b[2Jx', 4)[0]).to.equal('    1 | a: ␛[2Jx');
  });

  it('drops the carriage return of a Windows line end', () => {
    expect(of('a: x\r', 4)).to.deep.equal(['    1 | a: x', '      |    ^']);
  });

  it('is nothing when the text has no such line', () => {
    expect(excerpt(['a'], { line: 2, column: 1 }, 60)).to.deep.equal([]);
  });

  it('always fits and always points into the line shown', () => {
    const line = fc.string({
      unit: fc.constantFrom('a', ' ', '\t', '名', '"', ':', '😀', 'e\u0301', '\u0007'),
      maxLength: 300,
    });
    fc.assert(
      fc.property(line, fc.nat(400), fc.integer({ min: 30, max: 120 }), (text, column, columns) => {
        const [shown = '', caret = ''] = of(text, column + 1, columns);
        expect(widthOf(shown)).to.be.at.most(columns);
        expect(caret.length).to.be.at.most(columns);
        expect(caret.indexOf('^')).to.be.at.most(widthOf(shown));
      }),
    );
  });

  it('costs little in a line of megabytes', () => {
    const line = `${'x'.repeat(5_000_000)} mok ${'y'.repeat(5_000_000)}`;
    const started = process.cpuUsage();
    of(line, 5_000_002);
    expect(process.cpuUsage(started).user / 1000).to.be.below(200);
  });
});
