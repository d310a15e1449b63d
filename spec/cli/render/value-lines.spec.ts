import { expect } from 'chai';
import * as fc from 'fast-check';
import { parse } from 'yaml';
import { valueLines } from '../../../lib/cli/render/outputs.js';
import type { Json } from '../../../lib/common/json.js';

describe('the lines of a value', () => {
  const linesOf = (name: string, value: Json, columns = 60): string[] => [
    ...valueLines(name, value, '  ', columns),
  ];

  it('are one line of JSON when the value fits', () => {
    expect(linesOf('a', { b: [1, 'x', null], c: {} })).to.deep.equal(['  a: {"b": [1, "x", null], "c": {}}']);
    expect(linesOf('a', 'x: y # z')).to.deep.equal(['  a: "x: y # z"']);
    expect(linesOf('a', [])).to.deep.equal(['  a: []']);
  });

  it('break a value that does not fit at its outermost members', () => {
    const value = {
      short: [1, 2],
      long: 'x'.repeat(40),
      list: [{ a: 'y'.repeat(30), b: 'z'.repeat(30) }, 1],
    };
    expect(linesOf('a', value)).to.deep.equal([
      '  a:',
      '    short: [1, 2]',
      `    long: "${'x'.repeat(40)}"`,
      '    list:',
      `      - a: "${'y'.repeat(30)}"`,
      `        b: "${'z'.repeat(30)}"`,
      '      - 1',
    ]);
  });

  it('fill lines with the elements of a long list of plain values', () => {
    const lines = linesOf(
      'a',
      Array.from({ length: 30 }, (_, i) => i),
    );
    expect(lines).to.have.length(3);
    expect(lines[1]).to.match(/^ {4}\[0, 1, 2/);
    for (const line of lines) expect(line.length).to.be.at.most(60);
  });

  it('show text of several lines as it is', () => {
    expect(linesOf('a', 'one\n  two\n\nthree')).to.deep.equal([
      '  a: |-',
      '    one',
      '      two',
      '',
      '    three',
    ]);
    expect(linesOf('a', 'one\ntwo\n')).to.deep.equal(['  a: |', '    one', '    two']);
    expect(linesOf('a', ' one\ntwo')).to.deep.equal(['  a: " one\\ntwo"']);
  });

  it('are YAML that reads back as the value, whatever it is', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.constantFrom('a', ' ', '\n', '\t', '-', ': ', '#', '"'), { maxLength: 12 })
        .map((parts) => parts.join('')),
    );
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.oneof(
          text,
          fc.integer(),
          fc.boolean(),
          fc.constant(null),
          fc.double({ noNaN: true, noDefaultInfinity: true }),
        ),
        fc.array(tie('value'), { maxLength: 5 }),
        fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('null', 'yes', 'a b', 'key')), tie('value'), {
          maxKeys: 5,
        }),
      ),
    }));
    fc.assert(
      fc.property(value, fc.integer({ min: 1, max: 80 }), (given, columns) => {
        const plain: Json = JSON.parse(JSON.stringify(given));
        const lines = linesOf('name', plain, columns);
        expect(parse(['root:', ...lines].join('\n'), { maxAliasCount: 0 })).to.deep.equal({
          root: { name: plain },
        });
      }),
      { numRuns: 400 },
    );
  });

  it('cost nothing that is not read', () => {
    const huge = Array.from({ length: 100_000 }, (_, i) => ({ i, text: 'x'.repeat(50) }));
    const lines = valueLines('a', huge, '', 60);
    const started = process.cpuUsage();
    for (let i = 0; i < 10; i += 1) lines.next();
    expect(process.cpuUsage(started).user / 1000).to.be.below(50);
  });

  it('do not follow a value deeper than people can', () => {
    let deep: Json = 'x'.repeat(100);
    for (let i = 0; i < 500; i += 1) deep = [deep, 1];
    expect(linesOf('a', deep).length).to.be.below(40);
  });
});
