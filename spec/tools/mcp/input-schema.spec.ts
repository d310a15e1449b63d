import { expect } from 'chai';
import { SchemaReview } from '../../../lib/common/json-schema/keywords.js';
import { CheckBudget } from '../../../lib/common/json-schema/check-budget.js';
import { describeInputs, takesOtherInputs } from '../../../lib/tools/mcp/describe-inputs.js';
import { boundSchema } from '../../../lib/tools/mcp/input-schema.js';

function properties(schema: object): unknown {
  return boundSchema({ type: 'object', ...schema })?.['properties'];
}

describe('The schema of a tool of an MCP server (D49)', () => {
  it('is kept when it can be checked in bounded time', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { type: 'string', minLength: 1 },
        b: { anyOf: [{ type: 'null' }, { type: 'integer' }] },
      },
      required: ['a'],
      additionalProperties: false,
    };
    expect(boundSchema(schema)).to.deep.equal(schema);
  });

  it('has its references replaced by what they mean', () => {
    const found = properties({
      $defs: { point: { type: 'object', properties: { x: { type: 'number' } } } },
      properties: { p: { $ref: '#/$defs/point' } },
    });
    expect(found).to.deep.equal({ p: { type: 'object', properties: { x: { type: 'number' } } } });
  });

  it('accepts anything where a reference leads to itself, to nothing or elsewhere', () => {
    const found = properties({
      $defs: { list: { type: 'object', properties: { next: { $ref: '#/$defs/list' } } } },
      properties: {
        list: { $ref: '#/$defs/list' },
        none: { $ref: '#/$defs/none' },
        web: { $ref: 'https://example.com/schema' },
        root: { $ref: '#' },
      },
    });
    expect(found).to.deep.equal({
      list: { type: 'object', properties: { next: true } },
      none: true,
      web: true,
      root: true,
    });
  });

  it('leaves out what takes more than linear time, and what is misformed', () => {
    const found = properties({
      properties: {
        a: { type: 'string', pattern: '(a+)+$', format: 'email' },
        b: { type: 'string', pattern: '(?=a)' },
        c: { type: 'array', uniqueItems: true, items: [{ type: 'string' }] },
        d: { type: 'object', patternProperties: { x: {} }, additionalProperties: false },
        e: { type: 'strin', minimum: 'x', if: {} },
        f: { type: 'string', nullable: true },
      },
    });
    expect(found).to.deep.equal({
      a: { type: 'string', pattern: '(a+)+$', format: 'email' },
      b: { type: 'string' },
      c: { type: 'array' },
      d: { type: 'object' },
      e: {},
      f: {},
    });
  });

  it('leaves out "not" and "oneOf" when something in them is left out: they would accept less', () => {
    const found = properties({
      properties: {
        a: { not: { type: 'string', uniqueItems: true } },
        b: { oneOf: [{ type: 'string' }, { $ref: '#/none' }] },
        c: { anyOf: [{ type: 'string' }, { type: 'array', contains: {} }] },
      },
    });
    expect(found).to.deep.equal({ a: {}, b: {}, c: { anyOf: [{ type: 'string' }, { type: 'array' }] } });
  });

  it('leaves out "not" when something is left out beside a reference, or for null, in it', () => {
    const found = properties({
      $defs: { s: { type: 'string', title: 'S' } },
      properties: {
        a: { not: { $ref: '#/$defs/s', minLength: 5 } },
        b: { not: { type: 'string', nullable: true } },
        c: { not: { $ref: '#/$defs/s', nullable: true } },
        d: { not: { $ref: '#/$defs/s', description: 'a text' } },
      },
    });
    const d = { not: { type: 'string', title: 'S', description: 'a text' } };
    expect(found).to.deep.equal({ a: {}, b: {}, c: {}, d });
  });

  it('keeps what is said of an input beside a reference', () => {
    const found = properties({
      $defs: { s: { type: 'string', description: 'any' } },
      properties: {
        a: { $ref: '#/$defs/s', description: 'this one', minLength: 5 },
        b: { $ref: '#/$defs/none', description: 'another' },
        c: { $ref: '#/$defs/s', nullable: true },
      },
    });
    expect(found).to.deep.equal({
      a: { type: 'string', description: 'this one' },
      b: { description: 'another' },
      c: { description: 'any' },
    });
  });

  it('bounds references that multiply, and schemas that are nested deep', () => {
    const $defs: Record<string, unknown> = { d0: { type: 'string' } };
    for (let i = 1; i <= 30; i++) {
      const half = { $ref: `#/$defs/d${i - 1}` };
      $defs[`d${i}`] = { type: 'object', properties: { a: half, b: half } };
    }
    const bomb = boundSchema({ type: 'object', $defs, properties: { x: { $ref: '#/$defs/d30' } } });
    expect(JSON.stringify(bomb).length).to.be.below(100_000);
    let deep: Record<string, unknown> = {};
    for (let i = 0; i < 5000; i++) deep = { properties: { a: deep } };
    expect(JSON.stringify(boundSchema(deep) ?? {}).length).to.be.below(1000);
    expect(boundSchema({ description: 'x'.repeat(100_000) })).to.equal(undefined);
  });

  it('always passes the review of schemas of callers', () => {
    const bounded = boundSchema({
      type: 'object',
      $schema: 'http://json-schema.org/draft-07/schema#',
      definitions: { a: { type: ['string', 'null'] } },
      properties: { a: { $ref: '#/definitions/a', description: 'x' }, b: { const: { c: 1 } }, c: false },
      dependencies: {},
    });
    const review = new SchemaReview(new CheckBudget());
    review.visit(bounded, []);
    expect(review.errors).to.deep.equal([]);
  });

  it('describes each input by its type, its values and one short line', () => {
    const schema = boundSchema({
      type: 'object',
      properties: {
        a: { type: 'string', description: `first\n\u001b[31m${'x'.repeat(600)}` },
        b: { enum: ['x', 1], title: 'B' },
        c: { type: ['string', 'null'] },
      },
      required: ['a'],
    });
    const inputs = describeInputs(schema ?? {});
    expect(inputs['a']).to.include({ type: 'string', required: true });
    expect(inputs['a']?.description)
      .to.match(/^first \[31mx+…$/)
      .and.to.have.lengthOf.below(510);
    expect(inputs['b']).to.deep.equal({ description: 'B', enum: ['x', 1] });
    expect(inputs['c']).to.deep.equal({ description: '' });
  });

  it('takes no inputs beside those that it names, unless it says that it does', () => {
    const named = { properties: { a: {} } };
    expect(isOpen(named)).to.equal(false);
    expect(isOpen({ ...named, additionalProperties: true })).to.equal(true);
    expect(isOpen({ ...named, additionalProperties: { type: 'string' } })).to.equal(true);
    expect(isOpen({})).to.equal(true);
    expect(isOpen({ additionalProperties: false })).to.equal(false);
  });

  it('takes inputs that it names elsewhere than in its properties', () => {
    const named = { properties: { a: {} } };
    const others = { properties: { b: {} } };
    for (const more of [
      { anyOf: [others] },
      { oneOf: [others] },
      { allOf: [{ if: {}, then: others }] },
      { if: {}, then: others },
      { patternProperties: { '^x': {} } },
      { patternProperties: { '^x': {} }, additionalProperties: false },
      { $defs: { others }, allOf: [{ $ref: '#/$defs/others' }] },
      { $defs: { others }, $ref: '#/$defs/others' },
      { dependentSchemas: { a: others } },
    ])
      expect(isOpen({ ...named, ...more }), JSON.stringify(more)).to.equal(true);
    expect(isOpen({ ...named, anyOf: [others], additionalProperties: false })).to.equal(false);
    expect(isOpen({ ...named, oneOf: [{ required: ['a'] }] }), 'no others').to.equal(false);
    expect(isOpen({ $defs: { named }, $ref: '#/$defs/named' }), 'all are elsewhere').to.equal(true);
  });
});

function isOpen(schema: Record<string, unknown>): boolean {
  return takesOtherInputs(schema, boundSchema(schema) ?? {});
}
