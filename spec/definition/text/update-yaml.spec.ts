import { expect } from 'chai';
import { parse } from 'yaml';
import { updateYaml, type YamlUpdate } from '../../../lib/definition/text/update-yaml.js';

const LONG = {
  first: 'a text that is so long that no line has a place for it',
  second: ['and another text'],
};

/** The text with the values, which other YAML software reads there too. */
function update(text: string, ...updates: readonly YamlUpdate[]): string {
  const updated = updateYaml(text, updates);
  const value: unknown = parse(updated);
  for (const { path, value: written } of updates) {
    const found = path.reduce((part, key) => Reflect.get(Object(part), key) as unknown, value);
    expect(found).to.deep.equal(written);
  }
  return updated;
}

describe('Updating YAML (D91)', () => {
  it('replaces values, and keeps comments and all that is written otherwise', () => {
    expect(
      update(
        '# top\nlist: [ 1,2 ]\na:\n  b: 1   # why\n  c: "x"\n',
        { path: ['a', 'b'], value: 2 },
        { path: ['a', 'c'], value: ['y', null] },
      ),
    ).to.equal('# top\nlist: [ 1,2 ]\na:\n  b: 2   # why\n  c: ["y", null]\n'.replaceAll('"y"', 'y'));
  });

  it('writes long values in lines of their own, except where a map is in one line', () => {
    expect(update('a:\n  - b: 1\n    c: 2\n', { path: ['a', 0, 'b'], value: LONG })).to.equal(
      'a:\n  - b:\n      first: "a text that is so long that no line has a place for it"\n      second: ["and another text"]\n    c: 2\n',
    );
    expect(update('a: { b: 1 }\n', { path: ['a', 'b'], value: LONG })).to.equal(
      'a: { b: { first: "a text that is so long that no line has a place for it", second: ["and another text"] } }\n',
    );
  });

  it('replaces blocks', () => {
    expect(
      update(
        'a:\n  b:\n    c: 1\n    d: 2\n  e: |\n    text\n\nf: 1\n',
        { path: ['a', 'b'], value: 1 },
        { path: ['a', 'e'], value: 'short' },
      ),
    ).to.equal('a:\n  b: 1\n  e: short\n\nf: 1\n');
  });

  it('adds members behind the last one, with its comment, and the maps that lead to them', () => {
    expect(
      update(
        'a:\n  - b: 1 # why\n  - c: 1\n',
        { path: ['a', 0, 'd', 'e'], value: 3 },
        { path: ['a', 0, 'f'], value: true },
      ),
    ).to.equal('a:\n  - b: 1 # why\n    d: { e: 3 }\n    f: true\n  - c: 1\n');
    expect(
      update('a: [{ b: 1 }, {}]', { path: ['a', 0, 'c'], value: 'x' }, { path: ['a', 1, 'd'], value: 2 }),
    ).to.equal('a: [{ b: 1, c: x }, { d: 2 }]');
    expect(update('a:\nb: 1\n', { path: ['a'], value: { c: 2 } })).to.equal('a: { c: 2 }\nb: 1\n');
  });
});
