import fc from 'fast-check';
import type { Json, JsonObject } from '../../../lib/common/json/json.js';

const key = fc.constantFrom('a', 'b', 'constructor');
const scalar: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(null, true, false, '', 'a', 'ab', 'abc', '😀', 'b😀', 0, -0, 1, 2, 3, -1, 0.5, 1e3),
  fc.integer({ min: -5, max: 5 }),
);

/** Small values, so that random schemas often accept them. */
export const smallJson: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(key, tie('json'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).json;

const type = fc.constantFrom('string', 'integer', 'number', 'boolean', 'array', 'object', 'null');
const count = fc.integer({ min: 0, max: 3 });
const bound = fc.integer({ min: -2, max: 3 });
/** With few keywords, as most schemas have. */
const keywords = (all: Record<string, fc.Arbitrary<Json>>): fc.Arbitrary<JsonObject> =>
  fc
    .subarray(Object.keys(all), { maxLength: 3 })
    .chain((names) =>
      fc.record(Object.fromEntries(names.map((name) => [name, all[name] as fc.Arbitrary<Json>]))),
    );

/** Random schemas with all keywords that the schemas of params may have. */
export const allowedSchema: fc.Arbitrary<JsonObject> = fc.letrec<{ schema: Json; object: JsonObject }>(
  (tie) => {
    const schemas = fc.array(tie('schema'), { minLength: 1, maxLength: 3 });
    return {
      schema: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        fc.boolean(),
        fc.record({ type }) as fc.Arbitrary<Json>,
        tie('object'),
      ),
      object: keywords({
        type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
        enum: fc.array(smallJson, { minLength: 1, maxLength: 4 }),
        const: smallJson,
        minimum: bound,
        maximum: bound,
        exclusiveMinimum: bound,
        exclusiveMaximum: bound,
        multipleOf: fc.constantFrom(1, 2, 0.5),
        minLength: count,
        maxLength: count,
        pattern: fc.constantFrom('^a', 'b$', '^.$', '[ab]+', '^(a|ab)*$'),
        items: tie('schema'),
        prefixItems: schemas,
        minItems: count,
        maxItems: count,
        properties: fc.dictionary(key, tie('schema'), { maxKeys: 3, noNullPrototype: true }),
        required: fc.uniqueArray(key, { maxLength: 2 }),
        additionalProperties: tie('schema'),
        minProperties: count,
        maxProperties: count,
        allOf: schemas,
        anyOf: schemas,
        oneOf: schemas,
        not: tie('schema'),
        description: fc.constant('any text'),
        default: scalar,
      }),
    };
  },
).object;
