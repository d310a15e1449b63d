import { expect } from 'chai';
import * as fc from 'fast-check';
import { codeFrame } from '../../../lib/cli/render/code-frame.js';
import { displayWidth } from '../../../lib/cli/render/text.js';

describe('codeFrame', () => {
  const frame = (line: string, column: number, columns = 60): string[] =>
    codeFrame([line], { line: 1, column }, columns);

  it('shows the line with its number and a caret under the word', () => {
    const lines = ['a: 1', 'tool: fetch_dta', 'b: 2'];
    expect(codeFrame(lines, { line: 2, column: 7 }, 60)).to.deep.equal([
      '    2 | tool: fetch_dta',
      '      |       ^^^^^^^^^',
    ]);
  });

  it('underlines a whole quoted string, and otherwise one character', () => {
    expect(frame('x: "a b" # c', 4)[1]).to.equal('      |    ^^^^^');
    expect(frame("x: 'a b'", 4)[1]).to.equal('      |    ^^^^^');
    expect(frame('x: {a}', 4)[1]).to.equal('      |    ^');
    expect(frame('x:', 3)[1]).to.equal('      |   ^');
  });

  it('underlines one template of a text, and only that', () => {
    expect(frame('x: "{{a.b}} and {{c.d}}"', 17)[1]).to.equal('      |                 ^^^^^^^');
    expect(frame('x: "{{a.b ?? {"k": {}}}} {{c', 5)[1]).to.equal(`      |     ${'^'.repeat(20)}`);
    expect(frame('x: "see {{a.output"', 9)[1]).to.equal('      |         ^^^^^^^^^^');
  });

  it('aligns the caret after tabs and wide characters', () => {
    const [tabbed, under] = frame('\tx: mok', 5);
    expect(tabbed).to.equal('    1 |     x: mok');
    expect(under).to.equal('      |        ^^^');
    expect(frame('名前: mok', 5)[1]).to.equal('      |       ^^^');
    expect(frame('👩‍👩‍👧: mok', '👩‍👩‍👧: '.length + 1)[1]).to.equal('      |     ^^^');
  });

  it('truncates a long line around the caret', () => {
    const line = `${'a'.repeat(500)} here ${'b'.repeat(500)}`;
    const [text = '', caret = ''] = frame(line, 502);
    expect(text).to.match(/…a+ here b+…$/);
    expect(text.length).to.be.at.most(60);
    expect(text.slice(caret.indexOf('^'), caret.lastIndexOf('^') + 1)).to.equal('here');
  });

  it('replaces control characters by visible ones', () => {
    expect(frame('a: \u001b[2Jx', 4)[0]).to.equal('    1 | a: ␛[2Jx');
  });

  it('drops the carriage return of a Windows line break', () => {
    expect(frame('a: x\r', 4)).to.deep.equal(['    1 | a: x', '      |    ^']);
  });

  it('returns no lines for a position after the end of the text', () => {
    expect(codeFrame(['a'], { line: 2, column: 1 }, 60)).to.deep.equal([]);
  });

  it('always fits, with the caret inside the shown line', () => {
    const line = fc.string({
      unit: fc.constantFrom('a', ' ', '\t', '名', '"', ':', '😀', 'e\u0301', '\u0007'),
      maxLength: 300,
    });
    fc.assert(
      fc.property(line, fc.nat(400), fc.integer({ min: 30, max: 120 }), (text, column, columns) => {
        const [shown = '', caret = ''] = frame(text, column + 1, columns);
        expect(displayWidth(shown)).to.be.at.most(columns);
        expect(caret.length).to.be.at.most(columns);
        expect(caret.indexOf('^')).to.be.at.most(displayWidth(shown));
      }),
    );
  });

  it('takes little time for a line of several megabytes', () => {
    const line = `${'x'.repeat(5_000_000)} mok ${'y'.repeat(5_000_000)}`;
    const started = process.cpuUsage();
    frame(line, 5_000_002);
    expect(process.cpuUsage(started).user / 1000).to.be.below(200);
  });
});
