import { describeViolation } from '../../../lib/common/json-schema/violation.js';
import { INPUT_NOUNS } from '../../../lib/tools/inputs/validate.js';
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Json, JsonObject } from '../../../lib/common/json/json.js';
import { createFlatValidator, areFlat } from '../../../lib/tools/inputs/flat-validator.js';
import { type ValidationResult, createSchemaValidator } from '../../../lib/tools/inputs/schema-validator.js';
import type { ToolInput, Tool } from '../../../lib/tools/tool.js';
import { cases } from '../../support/measuring/cases.js';

const scalar: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(null, true, false, 0, -0, 1, 2.5, -3, 1e21, '', 'a', 'ab', '😀', '\ud83d', '5'),
  fc.integer({ min: -5, max: 5 }),
  fc.string({ maxLength: 3, unit: 'grapheme' }),
);

const values = (...keys: string[]): fc.Arbitrary<Json> =>
  fc.oneof(
    { weight: 4, arbitrary: scalar },
    fc.array(scalar, { maxLength: 2 }),
    // Ajv compares prototypes, too.
    fc.dictionary(fc.constantFrom(...keys), scalar, { maxKeys: 2, noNullPrototype: true }),
  );

const name = fc.constantFrom('a', 'b', 'constructor', 'toString', 'length', 'a/b', 'a~b');

const declaration: fc.Arbitrary<ToolInput> = fc.record(
  {
    description: fc.constant('an input'),
    type: fc.constantFrom('string', 'integer', 'number', 'boolean', 'array', 'object'),
    required: fc.boolean(),
    // Not __proto__: written into compiled code, a default would lose it.
    default: values('a', 'length'),
    enum: fc.array(values('a', 'length'), { minLength: 1, maxLength: 3 }),
    minimum: fc.constantFrom(-1, 0, 1.5),
    maximum: fc.constantFrom(0, 2, 3.5),
    minLength: fc.constantFrom(0, 1, 2),
    maxLength: fc.constantFrom(0, 1, 2),
  },
  { requiredKeys: ['description'] },
);

const OUTPUT = { name: 'output', description: 'nothing', type: 'any' } as const;

const tool: fc.Arbitrary<Tool> = fc
  .record({ inputs: fc.dictionary(name, declaration, { maxKeys: 4 }), openInputs: fc.boolean() })
  .map((parts) => ({
    ...parts,
    name: 'probe',
    description: 'a tool to be checked',
    output: OUTPUT,
    run: () => null,
  }));

const inputs = fc.dictionary(fc.oneof(name, fc.constant('other')), values('a', 'length', '__proto__'), {
  maxKeys: 5,
});

/** Leaves out what follows from a wrong type, as `applyDeclarations` does. */
function summarize({ inputs: complete, violations }: ValidationResult): unknown {
  const mistyped = violations.filter(({ keyword }) => keyword === 'type').map(({ path }) => String(path[0]));
  const found = violations
    .filter(({ keyword, path }) => keyword === 'type' || !mistyped.includes(String(path[0])))
    .map((one) => [...one.path, one.keyword, describeViolation(one, INPUT_NOUNS)].join(' '))
    .sort();
  return found.length > 0 ? found : JSON.stringify(sorted(complete));
}

function sorted(object: JsonObject): [string, Json][] {
  return Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
}

describe('createFlatValidator', () => {
  it('returns the violations and the completed inputs of the JSON Schema', () => {
    fc.assert(
      fc.property(tool, fc.array(inputs, { minLength: 5, maxLength: 5 }), (probe, originals) => {
        expect(areFlat(probe.inputs)).to.equal(true);
        const validateFlat = createFlatValidator(probe);
        // Compiling a schema takes most of the time: each checks several inputs.
        const validateSchema = createSchemaValidator(probe);
        for (const original of originals) {
          const before = structuredClone(original);
          expect(summarize(validateFlat(original))).to.deep.equal(summarize(validateSchema(original)));
          expect(original).to.deep.equal(before);
        }
      }),
      cases(150),
    );
  });

  it('returns one violation of inputs with more than 5,000 names, as the JSON Schema does', () => {
    const probe: Tool = {
      name: 'probe',
      description: 'd',
      inputs: {},
      openInputs: false,
      output: OUTPUT,
      run: () => null,
    };
    const many = Object.fromEntries(Array.from({ length: 5001 }, (_, index) => [`k${index}`, 1]));
    for (const create of [createFlatValidator, createSchemaValidator])
      expect(create(probe)(many).violations).to.have.length(1);
  });

  it('does not support declarations that need the JSON Schema', () => {
    const beyond: Partial<ToolInput>[] = [
      { pattern: '^a' },
      { items: { type: 'string' } },
      { properties: { a: {} } },
      { enum: [] },
      { enum: 'b' as unknown as [] },
      { minimum: Number.NaN },
      { minLength: -1 },
    ];
    expect(beyond.map((declared) => areFlat({ a: declared }))).to.deep.equal(beyond.map(() => false));
    expect(areFlat({})).to.equal(true);
  });
});
