import { expect } from 'chai';
import * as fc from 'fast-check';
import { parse } from 'yaml';
import { valueLines } from '../../../lib/cli/render/outputs.js';
import type { Json } from '../../../lib/common/json/json.js';
import { cases } from '../../support/measuring/cases.js';

describe('valueLines', () => {
  const format = (name: string, value: Json, columns = 60): string[] => [
    ...valueLines(name, value, '  ', columns),
  ];

  it('yields one line of JSON for a value that fits', () => {
    expect(format('a', { b: [1, 'x', null], c: {} })).to.deep.equal(['  a: {"b": [1, "x", null], "c": {}}']);
    expect(format('a', 'x: y # z')).to.deep.equal(['  a: "x: y # z"']);
    expect(format('a', [])).to.deep.equal(['  a: []']);
  });

  it('breaks a value that does not fit at its outermost members', () => {
    const value = {
      short: [1, 2],
      long: 'x'.repeat(40),
      list: [{ a: 'y'.repeat(30), b: 'z'.repeat(30) }, 1],
    };
    expect(format('a', value)).to.deep.equal([
      '  a:',
      '    short: [1, 2]',
      `    long: "${'x'.repeat(40)}"`,
      '    list:',
      `      - a: "${'y'.repeat(30)}"`,
      `        b: "${'z'.repeat(30)}"`,
      '      - 1',
    ]);
  });

  it('fills lines with the elements of a long list of numbers', () => {
    const lines = format(
      'a',
      Array.from({ length: 30 }, (_, i) => i),
    );
    expect(lines).to.have.length(3);
    expect(lines[1]).to.match(/^ {4}\[0, 1, 2/);
    for (const line of lines) expect(line.length).to.be.at.most(60);
  });

  it('yields text of several lines as a block scalar', () => {
    expect(format('a', 'one\n  two\n\nthree')).to.deep.equal([
      '  a: |-',
      '    one',
      '      two',
      '',
      '    three',
    ]);
    expect(format('a', 'one\ntwo\n')).to.deep.equal(['  a: |', '    one', '    two']);
    expect(format('a', ' one\ntwo')).to.deep.equal(['  a: " one\\ntwo"']);
  });

  it('yields YAML that parses back to any value', () => {
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
      fc.property(value, fc.integer({ min: 1, max: 80 }), (original, columns) => {
        const plain: Json = JSON.parse(JSON.stringify(original));
        const lines = format('name', plain, columns);
        expect(parse(['root:', ...lines].join('\n'), { maxAliasCount: 0 })).to.deep.equal({
          root: { name: plain },
        });
      }),
      cases(400),
    );
  });

  it('does no work for lines that are not read', () => {
    const huge = Array.from({ length: 100_000 }, (_, i) => ({ i, text: 'x'.repeat(50) }));
    const lines = valueLines('a', huge, '', 60);
    const started = process.cpuUsage();
    for (let i = 0; i < 10; i += 1) lines.next();
    expect(process.cpuUsage(started).user / 1000).to.be.below(50);
  });

  it('keeps deeply nested values on one line', () => {
    let deep: Json = 'x'.repeat(100);
    for (let i = 0; i < 500; i += 1) deep = [deep, 1];
    expect(format('a', deep).length).to.be.below(40);
  });
});
