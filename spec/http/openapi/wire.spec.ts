import { expect } from 'chai';
import Type from 'typebox';
import { schemaFor } from '../../../lib/http/schemas/wire.js';

interface Example {
  readonly id: string;
  readonly names: readonly string[];
  readonly hint?: string;
  /** Of another kind. */
  readonly never?: never;
}

const id = Type.String();
const names = Type.Array(Type.String());
const hint = Type.Optional(Type.String());

/** The compiler proves the types: each line that it must refuse says so. */
describe('schemaFor', () => {
  it('accepts a schema of the type, ignoring fields that are always undefined', () => {
    const schema = Type.Object({ id, names, hint });
    expect(schemaFor<Example>()(schema)).to.equal(schema);
  });

  it('refuses a schema with missing, additional or different fields at compile time', () => {
    const refused = [
      // @ts-expect-error an optional field is missing
      schemaFor<Example>()(Type.Object({ id, names })),
      // @ts-expect-error a field is missing
      schemaFor<Example>()(Type.Object({ id, hint })),
      // @ts-expect-error there is an optional field too many
      schemaFor<Example>()(Type.Object({ id, names, hint, more: hint })),
      // @ts-expect-error an optional field must be there
      schemaFor<Example>()(Type.Object({ id, names, hint: Type.String() })),
      // @ts-expect-error a field is of another type
      schemaFor<Example>()(Type.Object({ id: Type.Number(), names, hint })),
      // @ts-expect-error an optional field is missing, within a list
      schemaFor<readonly Example[]>()(Type.Array(Type.Object({ id, names }))),
    ];
    expect(refused).to.have.length(6);
  });
});
