import { expect } from 'chai';
import * as fc from 'fast-check';
import { parseTemplate } from '../../../lib/definition/template/parser.js';
import { parseExpression } from './expressions.js';

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
    ['a.0', ['a', 0]],
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
