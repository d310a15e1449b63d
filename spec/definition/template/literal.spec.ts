import { expect } from 'chai';
import * as fc from 'fast-check';
import { LITERAL_DEPTH } from '../../../lib/definition/template/literal.js';
import { parseTemplate } from '../../../lib/definition/template/parser.js';
import type { Json } from '../../../lib/common/json.js';
import { expressionOf, partsOf } from './expression-of.js';

describe('A literal after ?? (D11)', () => {
  function literalOf(json: string): Json | undefined {
    return expressionOf(`a.b ?? ${json}`).fallback?.value;
  }

  for (const json of [
    '"text"',
    '"}} ?? {{"',
    String.raw`"\"\\\u0041\n"`,
    '0',
    '-1.5e-3',
    '12E+2',
    'true',
    'false',
    'null',
    '[]',
    '{}',
    '[1, [2, {"a": [ ]}] ,"x"]',
    '{"k":{"z":1}}',
    '{ "" : null , "a b" : [ true ] }',
    '{"a":1,"a":2}',
    '{"__proto__":{"x":1}}',
  ]) {
    it(`reads ${json} as JSON does`, () => {
      expect(literalOf(json)).to.deep.equal(JSON.parse(json));
    });
  }

  it('is left out when no ?? is there', () => {
    expect(expressionOf('a.b').fallback).to.equal(undefined);
  });

  it('keeps __proto__ as a name like any other', () => {
    const value = literalOf('{"__proto__":{"x":1}}');
    expect(Object.keys(value ?? {})).to.deep.equal(['__proto__']);
    expect(Object.getPrototypeOf(value)).to.equal(Object.prototype);
  });

  it('is frozen to its depth, as results share it', () => {
    const parts = partsOf(literalOf('[{"a":[1]}]'));
    expect(parts.map((part) => Object.isFrozen(part))).to.deep.equal([true, true, true]);
  });

  it(`nests ${LITERAL_DEPTH} levels and no more`, () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(parseTemplate(`{{a ?? ${nested(LITERAL_DEPTH)}}}`)?.ok).to.equal(true);
    expect(parseTemplate(`{{a ?? ${nested(LITERAL_DEPTH + 1)}}}`)?.ok).to.equal(false);
  });

  it('gives back any JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const json = JSON.stringify(value);
        expect(literalOf(json)).to.deep.equal(JSON.parse(json));
      }),
    );
  });

  it('accepts nothing that JSON does not accept', () => {
    const texts = fc.string({
      unit: fc.constantFrom(...'{}[]",:01.e-+'.split(''), 'true', 'null', '"a"'),
      minLength: 1,
    });
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parseTemplate(`{{a ?? ${text}}}`);
        fc.pre(parsed?.ok === true && parsed.whole);
        expect(() => JSON.parse(text)).not.to.throw();
      }),
    );
  });
});
