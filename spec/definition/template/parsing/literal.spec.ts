import { expect } from 'chai';
import * as fc from 'fast-check';
import { MAX_LITERAL_DEPTH } from '../../../../lib/definition/template/parsing/literal.js';
import { parseTemplate } from '../../../../lib/definition/template/parsing/parser.js';
import type { Json } from '../../../../lib/common/json/json.js';
import { parseExpression, listParts } from '../expressions.js';

describe('A literal after ?? (D11)', () => {
  function literalOf(json: string): Json | undefined {
    return parseExpression(`a.b ?? ${json}`).fallback?.value;
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

  it('is undefined without ??', () => {
    expect(parseExpression('a.b').fallback).to.equal(undefined);
  });

  it('treats __proto__ as a plain key', () => {
    const value = literalOf('{"__proto__":{"x":1}}');
    expect(Object.keys(value ?? {})).to.deep.equal(['__proto__']);
    expect(Object.getPrototypeOf(value)).to.equal(Object.prototype);
  });

  it('is deeply frozen, because results share it', () => {
    const parts = listParts(literalOf('[{"a":[1]}]'));
    expect(parts.map((part) => Object.isFrozen(part))).to.deep.equal([true, true, true]);
  });

  it(`can be nested ${MAX_LITERAL_DEPTH} levels deep, but no deeper`, () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(parseTemplate(`{{a ?? ${nested(MAX_LITERAL_DEPTH)}}}`)?.ok).to.equal(true);
    expect(parseTemplate(`{{a ?? ${nested(MAX_LITERAL_DEPTH + 1)}}}`)?.ok).to.equal(false);
  });

  it('reads any JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const json = JSON.stringify(value);
        expect(literalOf(json)).to.deep.equal(JSON.parse(json));
      }),
    );
  });

  it('rejects what JSON.parse rejects', () => {
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
