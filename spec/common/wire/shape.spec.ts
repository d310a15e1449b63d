import { expect } from 'chai';
import Type from 'typebox';
import type { Json } from '../../../lib/common/json/json.js';
import { anyJson, nullable, schemaFor, type Shape } from '../../../lib/common/wire/shape.js';

const ExampleSchema = Type.Object({
  id: Type.String(),
  parts: Type.Array(Type.Object({ names: Type.Array(Type.String()) })),
  hint: Type.Optional(Type.String()),
  output: nullable(anyJson('Any JSON.')),
});

/** The compiler proves the types: each line that it must refuse says so. */
describe('The type of what a schema describes', () => {
  it('has the fields of the schema, and leaves its optional fields out when they are absent', () => {
    const example: Shape<typeof ExampleSchema> = { id: 'a', parts: [{ names: ['b'] }], output: ['c'] };
    expect(example).to.not.have.property('hint');
    // @ts-expect-error a field is missing
    const incomplete: Shape<typeof ExampleSchema> = { id: 'a', parts: [] };
    // @ts-expect-error an optional field is not undefined
    const undefinedField: Shape<typeof ExampleSchema> = { ...example, hint: undefined };
    expect([incomplete, undefinedField]).to.have.length(2);
  });

  it('is readonly at any depth, but for JSON values', () => {
    const example: Shape<typeof ExampleSchema> = { id: 'a', parts: [{ names: [] }], output: ['c'] };
    const output: Json = example.output;
    // @ts-expect-error the list is readonly
    const names: string[] | undefined = example.parts[0]?.names;
    // @ts-expect-error the field is readonly
    example.id = 'b';
    expect([output, names]).to.deep.equal([['c'], []]);
  });
});

describe('schemaFor', () => {
  interface Owned {
    readonly kind: 'a' | 'b';
    readonly name: string | null;
  }
  const kind = Type.Enum(['a', 'b']);
  const name = nullable(Type.String());

  it('accepts a schema of the type', () => {
    const schema = Type.Object({ kind, name });
    expect(schemaFor<Owned>()(schema)).to.equal(schema);
  });

  it('refuses a schema with missing or different fields, or other values, at compile time', () => {
    const refused = [
      // @ts-expect-error a field is missing
      schemaFor<Owned>()(Type.Object({ kind })),
      // @ts-expect-error a field is of another type
      schemaFor<Owned>()(Type.Object({ kind, name: Type.String() })),
      // @ts-expect-error a value is missing
      schemaFor<Owned['kind']>()(Type.Enum(['a'])),
      // @ts-expect-error there is a value too many
      schemaFor<Owned['kind']>()(Type.Enum(['a', 'b', 'c'])),
    ];
    expect(refused).to.have.length(4);
  });
});
