import { expect } from 'chai';
import fc from 'fast-check';
import { compileSchema } from '../../../lib/common/json-schema/ajv.js';
import { BoundedSchema } from '../../../lib/common/json-schema/bounded-schema.js';
import { CheckBudget } from '../../../lib/common/json-schema/check-budget.js';
import { SchemaReview } from '../../../lib/common/json-schema/keywords.js';
import { describeFirstViolations } from '../../../lib/common/json-schema/violation.js';
import type { Json, JsonObject } from '../../../lib/common/json/json.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';
import { allowedSchema, smallJson } from './arbitrary-schema.js';
import { cases } from '../../support/measuring/cases.js';

function repeat<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}

function describe10(schema: JsonObject, value: Json, budget = new CheckBudget()): string[] {
  const violations = new BoundedSchema(schema, budget, 10).findViolations(value);
  return describeFirstViolations(violations, { one: 'field', all: 'the value' });
}

/** Undefined where the code that ajv makes reads a variable that it does not declare: after `not: true`, for example. */
function verdictOfAjv(schema: JsonObject, value: Json): boolean | undefined {
  try {
    return compileSchema(schema)(value);
  } catch (error) {
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
}

describe('BoundedSchema (D4)', () => {
  it('has the verdict of ajv on every schema with allowed keywords and every value', () => {
    fc.assert(
      fc.property(allowedSchema, smallJson, (schema, value) => {
        // Of objects with these keys, ajv compares the values of the keys as if they were its methods.
        fc.pre(!/"(?:constructor|valueOf|toString)"/.test(JSON.stringify([schema, value])));
        const review = new SchemaReview(new CheckBudget());
        review.visit(schema, []);
        expect(review.errors).to.deep.equal([]);
        const violations = new BoundedSchema(schema, new CheckBudget(), 10).findViolations(value);
        const verdict = verdictOfAjv(schema, value);
        fc.pre(verdict !== undefined);
        expect(violations.length === 0).to.equal(verdict);
      }),
      cases(2000),
    );
  });

  it('has a verdict where ajv has none', () => {
    const never = { anyOf: [{ additionalProperties: false }], not: true };
    const schema = { oneOf: [true, never] };
    expect(verdictOfAjv(schema, null)).to.equal(undefined);
    expect(new BoundedSchema(schema, new CheckBudget(), 10).findViolations(null)).to.deep.equal([]);
  });

  it('says in a sentence what each keyword demands', () => {
    const sentences: [JsonObject, Json, string][] = [
      [{ type: 'integer' }, 0.5, 'the value must be a whole number, not 0.5'],
      [{ type: ['string', 'null'] }, 3, 'the value must be a string or null, not a number'],
      [{ enum: [1, 'a'] }, 2, 'the value must be one of 1, "a", not 2'],
      [{ const: { a: 1 } }, {}, 'the value must be {"a":1}'],
      [{ minimum: 1 }, 0, 'the value must be at least 1, not 0'],
      [{ maximum: 1 }, 2, 'the value must be at most 1, not 2'],
      [{ exclusiveMinimum: 1 }, 1, 'the value must be above 1, not 1'],
      [{ exclusiveMaximum: 1 }, 1, 'the value must be below 1, not 1'],
      [{ multipleOf: 2 }, 3, 'the value must be a multiple of 2, not 3'],
      [{ minLength: 2 }, '😀', 'the value must have at least 2 characters'],
      [{ maxLength: 1 }, 'ab', 'the value must have at most 1 characters'],
      [{ pattern: '^a' }, 'b', 'the value must match the pattern ^a, not "b"'],
      [{ minItems: 1 }, [], 'the value must have at least 1 items'],
      [{ maxItems: 1 }, [1, 2], 'the value must have at most 1 items'],
      [{ items: { type: 'string' } }, [1], 'field "[0]" must be a string, not a number'],
      [{ items: false }, [1], 'field "[0]" must be absent'],
      [{ prefixItems: [true, { const: 1 }] }, [0, 2], 'field "[1]" must be 1, not 2'],
      [{ properties: { a: { minimum: 1 } } }, { a: 0 }, 'field "a" must be at least 1, not 0'],
      [{ required: ['a'] }, {}, 'field "a" is missing'],
      [{ properties: { a: { required: ['b'] } } }, { a: {} }, 'field "a" lacks "b"'],
      [{ additionalProperties: false }, { a: 1 }, 'there is no field "a"'],
      [{ additionalProperties: { type: 'null' } }, { a: 1 }, 'field "a" must be null, not a number'],
      [{ minProperties: 1 }, {}, 'the value must have at least 1 fields'],
      [{ maxProperties: 0 }, { a: 1 }, 'the value must have at most 0 fields'],
      [{ allOf: [{ minimum: 1 }] }, 0, 'the value must be at least 1, not 0'],
      [{ anyOf: [{ minimum: 1 }] }, 0, 'the value must match a schema in "anyOf"'],
      [{ oneOf: [true, true] }, 0, 'the value must match exactly one schema in "oneOf"'],
      [{ not: {} }, 0, 'the value must not match the schema in "not"'],
    ];
    for (const [schema, value, sentence] of sentences) {
      expect(describe10(schema, value), JSON.stringify(schema)).to.deep.equal([sentence]);
    }
  });

  it('stops after the violations that a message shows', () => {
    const budget = new CheckBudget(40);
    const sentences = describe10({ items: { type: 'integer' } }, Array(1_000_000).fill('x'), budget);
    expect(sentences).to.have.length(11);
    expect(sentences.at(-1)).to.equal('and more');
    expect(budget.isExceeded).to.equal(false);
  });

  it('checks a list of 100,000 numbers in a fraction of its budget', () => {
    const budget = new CheckBudget();
    expect(describe10({ items: { type: 'integer' } }, Array(100_000).fill(7), budget)).to.deep.equal([]);
    expect(budget.take(800_000)).to.equal(true);
  });

  const products: [string, JsonObject, Json][] = [
    ['schemas times items', { allOf: repeat(1000, () => ({ items: true })) }, Array(100_000).fill(1)],
    [
      'branches times items',
      { items: { anyOf: [...Array(1000).fill(false), true] } },
      Array(100_000).fill(1),
    ],
    [
      'schemas times keys',
      { anyOf: repeat(1000, () => ({ additionalProperties: false })) },
      Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, 1])),
    ],
    [
      'lengths times characters',
      { allOf: repeat(1000, () => ({ maxLength: 600_000 })) },
      '😀'.repeat(500_000),
    ],
    ['equal values', { allOf: repeat(1000, () => ({ const: [] })) }, [repeat(100_000, () => ({ a: 1 }))]],
    [
      'a pattern that needs a state for every character',
      { items: { pattern: 'a[ab]{400}$' } },
      Array.from({ length: 100 }, (_, i) => 'aabab'.repeat(1000 + i)),
    ],
    ['patterns', { allOf: Array.from({ length: 900 }, (_, i) => ({ pattern: `^[a-z]{${i}}$` })) }, 'x'],
  ];
  for (const [title, schema, value] of products) {
    itTimed(`ends a check that multiplies ${title} when its budget is exceeded`, () => {
      const budget = new CheckBudget();
      const cpuMs = measureCpuMsSync(() => {
        new BoundedSchema(schema, budget, 10).findViolations(value);
      });
      expect(budget.isExceeded).to.equal(true);
      expect(cpuMs).to.be.lessThan(1000);
    });
  }
});
