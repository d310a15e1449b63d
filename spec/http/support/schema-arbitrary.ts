import fc from 'fast-check';
import { isObject } from '../../../lib/common/json/json.js';
import { resolveReference } from '../../support/http/open-api-document.js';

type Schema = Record<string, unknown>;

/** Better values than a schema alone could give, by the name of a component or of a property. */
export type Knowledge = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Words that say nothing about values, and those that are read together with `type`. */
const READ = new Set(
  `description title default examples required properties additionalProperties items pattern minLength maxLength
  minimum maximum exclusiveMinimum minItems maxItems maxProperties propertyNames type`.split(/\s+/),
);

/**
 * Values that a schema of the document takes.
 *
 * @throws Error on a word of JSON Schema that it does not know, for what is ignored is not proved
 */
export class SchemaArbitrary {
  readonly #document: object;
  readonly #knowledge: Knowledge;

  constructor(document: object, knowledge: Knowledge) {
    this.#document = document;
    this.#knowledge = knowledge;
  }

  of(schema: unknown, name = ''): fc.Arbitrary<unknown> {
    const known = this.#knowledge[name];
    const plain = this.#plain(isObject(schema) ? schema : {});
    return known === undefined ? plain : fc.oneof({ weight: 4, arbitrary: known }, plain);
  }

  #plain(schema: Schema): fc.Arbitrary<unknown> {
    const { $ref, const: only, enum: values, anyOf, examples, default: usual } = schema;
    if (typeof $ref === 'string')
      return this.of(resolveReference(this.#document, $ref), $ref.split('/').at(-1));
    if ('const' in schema) return fc.constant(only);
    if (Array.isArray(values)) return fc.constantFrom(...(values as unknown[]));
    if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((branch) => this.of(branch)));
    const unknown = Object.keys(schema).filter((word) => !READ.has(word));
    if (unknown.length > 0) throw new Error(`the fuzzer does not know ${unknown.join()}`);
    const shown = [
      ...(Array.isArray(examples) ? (examples as unknown[]) : []),
      ...('default' in schema ? [usual] : []),
    ];
    const typed = this.#typed(schema);
    return shown.length === 0 ? typed : fc.oneof({ weight: 3, arbitrary: typed }, fc.constantFrom(...shown));
  }

  #typed(schema: Schema): fc.Arbitrary<unknown> {
    const { type } = schema;
    if (type === undefined) return fc.jsonValue();
    const types = [type].flat() as string[];
    return fc.oneof(...types.map((one) => this.#ofType(one, schema)));
  }

  #ofType(type: string, schema: Schema): fc.Arbitrary<unknown> {
    switch (type) {
      case 'object':
        return this.#object(schema);
      case 'array':
        return fc.array(this.of(schema['items']), {
          minLength: readNumber(schema, 'minItems') ?? 0,
          maxLength: Math.min(4, readNumber(schema, 'maxItems') ?? 4),
        });
      case 'string':
        return createString(schema);
      case 'integer':
        return fc.integer({
          min: readNumber(schema, 'minimum') ?? -1e9,
          max: readNumber(schema, 'maximum') ?? 1e9,
        });
      case 'number':
        return createNumber(schema);
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      default:
        throw new Error(`the fuzzer does not know the type ${type}`);
    }
  }

  #object({
    properties = {},
    required = [],
    additionalProperties,
    propertyNames,
  }: Schema): fc.Arbitrary<unknown> {
    const named = Object.entries(properties as Schema).map(
      ([name, one]) => [name, this.of(one, name)] as const,
    );
    const known = fc.record(Object.fromEntries(named), { requiredKeys: required as string[] });
    if (additionalProperties === false) return known;
    const names = isObject(propertyNames) ? createString(propertyNames) : fc.string({ maxLength: 8 });
    const others = fc.dictionary(names, this.of(additionalProperties), { maxKeys: 3 });
    return fc.tuple(others, known).map(([more, own]) => ({ ...more, ...own }));
  }
}

function createString(schema: Schema): fc.Arbitrary<string> {
  const { pattern } = schema;
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern));
  const length = {
    minLength: readNumber(schema, 'minLength') ?? 0,
    maxLength: readNumber(schema, 'maxLength') ?? 30,
  };
  return fc.string({ unit: 'grapheme', ...length });
}

function createNumber(schema: Schema): fc.Arbitrary<number> {
  const above = readNumber(schema, 'exclusiveMinimum');
  const min = above ?? readNumber(schema, 'minimum') ?? -1e9;
  const max = readNumber(schema, 'maximum') ?? 1e9;
  return fc.double({ min, max, minExcluded: above !== undefined, noNaN: true });
}

function readNumber(schema: Schema, word: string): number | undefined {
  const value = schema[word];
  return typeof value === 'number' ? value : undefined;
}
