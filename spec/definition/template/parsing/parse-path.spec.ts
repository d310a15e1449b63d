import { expect } from 'chai';
import * as fc from 'fast-check';
import {
  formatKey,
  formatPath,
  type Segment,
} from '../../../../lib/definition/template/expressions/expression.js';
import { parseTemplate } from '../../../../lib/definition/template/parsing/parser.js';
import { parseExpression } from '../expressions.js';

describe('A path (D11)', () => {
  /** Field names are strings, indexes are numbers. */
  function pathOf(source: string): (string | number)[] {
    const { root, path } = parseExpression(source);
    return [root, ...path.map((segment) => (segment.kind === 'index' ? segment.index : segment.name))];
  }

  const cases: [string, (string | number)[]][] = [
    ['a', ['a']],
    ['a.output', ['a', 'output']],
    ['a-b_c.d-e', ['a-b_c', 'd-e']],
    ['$x.$y', ['$x', '$y']],
    ['größe.ключ.名前', ['größe', 'ключ', '名前']],
    ['a.0', ['a', '0']],
    ['a.2024', ['a', '2024']],
    ['a[0]', ['a', 0]],
    ['a[-1]', ['a', -1]],
    ['a[-0]', ['a', 0]],
    ['a[12].b', ['a', 12, 'b']],
    ['a.first.last.length', ['a', 'first', 'last', 'length']],
    ['a["any key"]', ['a', 'any key']],
    ["a['any key']", ['a', 'any key']],
    ['a["0"]', ['a', '0']],
    ['a[""]', ['a', '']],
    [String.raw`a["q\"\\\u00e9\n"]`, ['a', 'q"\\é\n']],
    [String.raw`a['it\'s "q" \\']`, ['a', 'it\'s "q" \\']],
    ['a["?? }} {{"]', ['a', '?? }} {{']],
    ['a.007', ['a', '007']],
    ['a.2024-q1', ['a', '2024-q1']],
    ['a.99999999999999999999', ['a', '99999999999999999999']],
    [' a . b [ 0 ] [ "c" ] ', ['a', 'b', 0, 'c']],
    ['true.output', ['true', 'output']],
    ['constructor.output', ['constructor', 'output']],
  ];
  for (const [source, path] of cases) {
    it(`reads {{${source}}} as ${JSON.stringify(path)}`, () => {
      expect(pathOf(source)).to.deep.equal(path);
    });
  }

  it('cannot contain names that lead to prototypes (D13)', () => {
    for (const name of ['__proto__', 'constructor', 'prototype']) {
      for (const path of [`.${name}`, `["${name}"]`, `['${name}'].x`, `.a.${name} ?? 1`]) {
        const parsed = parseTemplate(`{{a${path}}}`);
        const problems = parsed?.ok === false ? parsed.problems.map(({ message }) => message) : [];
        expect(problems, path).to.deep.equal([`"${name}" cannot be read`]);
      }
    }
  });

  it('rejects an index beyond the safe integers', () => {
    expect(parseTemplate('{{a[99999999999999999999]}}')).to.have.property('ok', false);
  });

  it('reads any key in brackets as a JSON string', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (key) => {
        fc.pre(!['__proto__', 'constructor', 'prototype'].includes(key));
        expect(pathOf(`a[${JSON.stringify(key)}]`)).to.deep.equal(['a', key]);
      }),
    );
  });
});

describe('formatPath', () => {
  const segments = fc.oneof(
    fc.record({
      kind: fc.constant('index' as const),
      name: fc.constant(undefined),
      index: fc.integer(),
    }),
    fc
      .record({
        kind: fc.constant('field' as const),
        name: fc.oneof(fc.string(), fc.constantFrom('0', 'a-b', '$x', 'é')),
        index: fc.constant(undefined),
      })
      .filter(({ name }) => !['__proto__', 'constructor', 'prototype'].includes(name)),
  );

  it('formats a path that parses to the same path', () => {
    fc.assert(
      fc.property(fc.array<Segment>(segments, { maxLength: 5 }), (path) => {
        const text = formatPath('a', path);
        fc.pre(!text.endsWith('…'));
        expect(parseExpression(text).path).to.deep.equal(path);
      }),
    );
  });

  it('prefers dots to brackets', () => {
    expect(formatPath('a', parseExpression('a["output"]["x y"].0').path)).to.equal('a.output["x y"].0');
  });

  it('shortens long paths and keys', () => {
    expect(formatPath('a'.repeat(1000), [])).to.have.length(201);
    expect(formatKey('k'.repeat(1000))).to.have.length(41);
  });
});
