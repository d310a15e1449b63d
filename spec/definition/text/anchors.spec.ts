import { expect } from 'chai';
import { type Alias, isAlias, isMap, type Node, parseDocument } from 'yaml';
import { namedBy } from '../../../lib/definition/text/guards.js';

describe('what an alias names', () => {
  it('is the nearest mark before it, as YAML says', () => {
    const document = parseDocument('{a: &x 1, b: *x, c: &x {d: 2}, e: *x, f: *y, g: &y 3}');
    const named = aliasesIn(document.contents).map((alias) => {
      const target = namedBy(alias, document);
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
