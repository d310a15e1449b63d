import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Json, JsonObject } from '../../../lib/common/json.js';
import { flatCheck, isFlat } from '../../../lib/tools/inputs/flat-check.js';
import { schemaCheck } from '../../../lib/tools/inputs/schema-check.js';
import type { InputDeclaration, Tool } from '../../../lib/tools/tool.js';
import { describeViolation, type InspectedInputs } from '../../../lib/tools/inputs/inspection.js';

const scalar: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(null, true, false, 0, -0, 1, 2.5, -3, 1e21, '', 'a', 'ab', '😀', '\ud83d', '5'),
  fc.integer({ min: -5, max: 5 }),
  fc.string({ maxLength: 3, unit: 'grapheme' }),
);

const values = (...keys: string[]): fc.Arbitrary<Json> =>
  fc.oneof(
    { weight: 4, arbitrary: scalar },
    fc.array(scalar, { maxLength: 2 }),
    fc.dictionary(fc.constantFrom(...keys), scalar, { maxKeys: 2 }),
  );

const name = fc.constantFrom('a', 'b', 'constructor', 'toString', 'length', 'a/b', 'a~b');

const declaration: fc.Arbitrary<InputDeclaration> = fc.record(
  {
    description: fc.constant('an input'),
    type: fc.constantFrom('string', 'integer', 'number', 'boolean', 'array', 'object'),
    required: fc.boolean(),
    // Not __proto__: written into compiled code, a default would lose it.
    default: values('a', 'length'),
    enum: fc.array(scalar, { minLength: 1, maxLength: 3 }),
    minimum: fc.constantFrom(-1, 0, 1.5),
    maximum: fc.constantFrom(0, 2, 3.5),
    minLength: fc.constantFrom(0, 1, 2),
  },
  { requiredKeys: ['description'] },
);

const tool: fc.Arbitrary<Tool> = fc
  .record({ inputs: fc.dictionary(name, declaration, { maxKeys: 4 }), openInputs: fc.boolean() })
  .map((parts) => ({
    ...parts,
    name: 'probe',
    description: 'a tool to be checked',
    output: { name: 'output', description: 'nothing', type: 'any' },
    run: () => null,
  }));

const inputs = fc.dictionary(fc.oneof(name, fc.constant('other')), values('a', 'length', '__proto__'), {
  maxKeys: 5,
});

function verdictOf({ inputs: complete, violations }: InspectedInputs): unknown {
  const found = violations.map((one) => [...one.path, one.keyword, describeViolation(one)].join(' ')).sort();
  return found.length > 0 ? found : JSON.stringify(sorted(complete));
}

function sorted(object: JsonObject): [string, Json][] {
  return Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
}

describe('flatCheck', () => {
  it('gives the verdict, the words and the completed inputs that the JSON Schema gives', () => {
    fc.assert(
      fc.property(tool, inputs, (probe, given) => {
        expect(isFlat(probe.inputs)).to.equal(true);
        const before = structuredClone(given);
        expect(verdictOf(flatCheck(probe)(given))).to.deep.equal(verdictOf(schemaCheck(probe)(given)));
        expect(given).to.deep.equal(before);
      }),
      { numRuns: 500 },
    );
  });

  it('leaves to the schema what it cannot judge exactly', () => {
    const beyond: Partial<InputDeclaration>[] = [
      { pattern: '^a' },
      { items: { type: 'string' } },
      { properties: { a: {} } },
      { enum: [] },
      { enum: [{ a: 1 }] },
      { minimum: Number.NaN },
    ];
    expect(beyond.map((declared) => isFlat({ a: declared }))).to.deep.equal(beyond.map(() => false));
    expect(isFlat({})).to.equal(true);
  });
});
