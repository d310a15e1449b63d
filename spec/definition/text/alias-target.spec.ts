import { expect } from 'chai';
import { type Alias, isAlias, isMap, type Node, parseDocument } from 'yaml';
import { findAliasTarget } from '../../../lib/definition/text/aliases.js';

describe('findAliasTarget', () => {
  it('returns the last anchor of the name before the alias, as YAML defines', () => {
    const document = parseDocument('{a: &x 1, b: *x, c: &x {d: 2}, e: *x, f: *y, g: &y 3}');
    const named = aliasesIn(document.contents).map((alias) => {
      const target = findAliasTarget(alias, document);
      expect(target).to.equal(alias.resolve(document));
      return target?.toJS(document) as unknown;
    });
    expect(named).to.deep.equal([1, { d: 2 }, undefined]);
  });
});

function aliasesIn(contents: Node | null): Alias[] {
  if (!isMap(contents)) throw new Error('no map');
  return contents.items.flatMap(({ value }) => (isAlias(value) ? [value] : []));
}
