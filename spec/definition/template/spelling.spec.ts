import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Segment } from '../../../lib/definition/template/expression.js';
import { spell, spellKey } from '../../../lib/definition/template/template-error.js';
import { expressionOf } from './expression-of.js';

describe('spell', () => {
  const segments = fc.oneof(
    fc.record({ kind: fc.constant('index' as const), index: fc.integer() }),
    fc
      .record({
        kind: fc.constant('field' as const),
        name: fc.oneof(fc.string(), fc.constantFrom('0', 'a-b', '$x', 'é')),
      })
      .filter(({ name }) => !['__proto__', 'constructor', 'prototype'].includes(name)),
  );

  it('writes a path so that it can be read again', () => {
    fc.assert(
      fc.property(fc.array<Segment>(segments, { maxLength: 5 }), (path) => {
        const text = spell('a', path);
        fc.pre(!text.endsWith('…'));
        expect(expressionOf(text).path).to.deep.equal(path);
      }),
    );
  });

  it('prefers dots', () => {
    expect(spell('a', expressionOf('a["output"]["x y"].0').path)).to.equal('a.output["x y"][0]');
  });

  it('cuts what nobody would read', () => {
    expect(spell('a'.repeat(1000), [])).to.have.length(201);
    expect(spellKey('k'.repeat(1000))).to.have.length(41);
  });
});
