import { expect } from 'chai';
import { findMissing, explainMissingMember } from '../../../lib/definition/shapes/missing-member.js';
import {
  elementOf,
  memberOf,
  ShapeBudget,
  typesOf,
  type ValueShape,
} from '../../../lib/definition/shapes/shape.js';
import type { Segment } from '../../../lib/definition/template/expressions/expression.js';
import { parseTemplate } from '../../../lib/definition/template/parsing/parser.js';

function pathOf(text: string): readonly Segment[] {
  const [part] = parseTemplate(`{{x${text}}}`)?.parts ?? [];
  if (typeof part !== 'object') throw new Error(`no path: ${text}`);
  return part.expression.path;
}

const CLOSED = {
  type: 'object',
  properties: { status: { type: 'integer' }, body: {}, rows: { type: 'array', items: { type: 'object' } } },
  additionalProperties: false,
};

describe('The shape of a value', () => {
  const exists: readonly (readonly [title: string, shape: ValueShape, path: string])[] = [
    ['a field that the schema names', CLOSED, '.status'],
    ['any path in a value of any type', CLOSED, '.body.a.b[0]["c d"]'],
    ['an element of a list, from either end', CLOSED, '.rows[-1].a'],
    ['an element by a number after a dot', CLOSED, '.rows.2'],
    ['the first and the last element', CLOSED, '.rows.first.a'],
    ['the length of a list', CLOSED, '.rows.length'],
    ['a key of an object with further keys', { type: 'object', properties: { a: {} } }, '.b.c'],
    ['a key with a schema for all keys', { type: 'object', additionalProperties: { type: 'string' } }, '.b'],
    ['a key that looks like an index', { type: 'object' }, '.2024'],
    ['the JSON within a text', { type: 'string' }, '.a.b'],
    ['the JSON within a written text', { const: 'the answer: {"a": [1]}' }, '.a[0]'],
    ['the length of a written text', { const: 'abc' }, '.length'],
    ['one of several alternatives', { anyOf: [{ type: 'null' }, CLOSED] }, '.status'],
    ['one of several types', { type: ['null', 'array'] }, '[0]'],
    ['any path where a reference is not followed', { $ref: '#/$defs/x' }, '.a'],
    ['any path where a keyword is not understood', { if: CLOSED, then: {} }, '.a'],
    ['any path beside a pattern of keys', { ...CLOSED, patternProperties: { '^x-': {} } }, '.other'],
    ['any path where the schema is broken', { type: 'object', additionalProperties: 3 }, '.a'],
    ['any path where properties have no type', { properties: { a: { type: 'integer' } } }, '.b'],
    ['an element of a tuple', { type: 'array', prefixItems: [{ type: 'integer' }, CLOSED] }, '[1].status'],
    ['an element beyond a tuple', { type: 'array', prefixItems: [{ type: 'integer' }] }, '[5].a'],
  ];
  for (const [title, shape, path] of exists) {
    it(`has ${title}`, () => {
      expect(findMissing(shape, pathOf(path), new ShapeBudget())).to.equal(undefined);
    });
  }

  const missing: readonly (readonly [shape: ValueShape, path: string, reason: string])[] = [
    [CLOSED, '.items', 'x has no "items": it has status, body, rows'],
    [CLOSED, '[0]', 'x is an object, which has no index 0: it has status, body, rows'],
    [{ ...CLOSED, properties: {} }, '.a', 'x has no "a": it has no keys'],
    [{ type: 'integer' }, '.code', 'x is a number, which has no fields'],
    [{ type: ['boolean', 'null'] }, '.a', 'x is true or false or null, which has no fields'],
    [
      { type: 'array', items: CLOSED },
      '.status',
      'x is a list: select one of its items first, as in x[0].status',
    ],
    [{ type: 'array', maxItems: 2 }, '[2]', 'x is a list without an index 2'],
    [{ const: 'success' }, '.a', 'x is "success", which has no fields'],
    [{ enum: ['a', 'b'] }, '.a', 'x is a text, which has no fields'],
    [{ const: { a: 1, b: 2 } }, '.c', 'x has no "c": it has a, b'],
    [{ anyOf: [{ type: 'null' }, CLOSED] }, '.a', 'x has no "a": it has status, body, rows'],
    [{ allOf: [{ type: 'object' }, CLOSED] }, '.a', 'x has no "a": it has status, body, rows'],
  ];
  for (const [shape, path, reason] of missing) {
    it(`says that ${reason}`, () => {
      const segments = pathOf(path);
      const budget = new ShapeBudget();
      const found = findMissing(shape, segments, budget);
      const segment = segments[found?.at ?? -1];
      const explained = found && segment && explainMissingMember(found.shape, segment, 'x', budget);
      expect(explained).to.deep.equal({ reason, needsItem: reason.includes('is a list: select') });
    });
  }

  it('is unknown beyond a number of steps, however it is nested', () => {
    let nested: ValueShape = CLOSED;
    for (let depth = 0; depth < 40; depth++) nested = { anyOf: [nested, { allOf: [nested] }] };
    const budget = new ShapeBudget(10_000);
    expect(memberOf(nested, pathOf('.items')[0] as Segment, budget)).to.equal(true);
  });

  it('has elements only when it may be a list', () => {
    const budget = new ShapeBudget();
    expect(elementOf({ type: ['object', 'string'] }, budget)).to.equal(false);
    expect(elementOf({ type: ['array', 'null'], items: CLOSED }, budget)).to.equal(CLOSED);
    expect(elementOf({ const: [] }, budget)).to.equal(true);
    expect(elementOf({ type: 'array', items: false }, budget)).to.equal(true);
    expect(elementOf({}, budget)).to.equal(true);
    // As authors may write them, who mean any value, or a list as in params.
    expect(elementOf({ type: 'any' }, budget)).to.equal(true);
    expect(elementOf({ type: 'list' }, budget)).to.equal(true);
    expect(typesOf({ type: 'any' })).to.equal(undefined);
  });

  it('names the types that all its keywords allow', () => {
    expect(typesOf({})).to.equal(undefined);
    expect([...(typesOf({ type: ['integer', 'null'], not: { type: 'null' } }) ?? [])]).to.deep.equal([
      'number',
      'null',
    ]);
    expect([...(typesOf({ anyOf: [{ const: 'a' }, { type: 'array' }], type: 'array' }) ?? [])]).to.deep.equal(
      ['array'],
    );
  });
});
