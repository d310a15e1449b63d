import { expect } from 'chai';
import Type from 'typebox';
import { wire } from '../../../lib/http/schemas/wire.js';

interface Told {
  readonly id: string;
  readonly names: readonly string[];
  readonly hint?: string;
  /** Of another kind. */
  readonly never?: never;
}

const id = Type.String();
const names = Type.Array(Type.String());
const hint = Type.Optional(Type.String());

/** The compiler proves it: each line that it must refuse says so. */
describe('A schema for a type that is declared elsewhere', () => {
  it('says what the type says, but for fields that are never there', () => {
    const schema = Type.Object({ id, names, hint });
    expect(wire<Told>()(schema)).to.equal(schema);
  });

  it('is refused when it says less, more, or something else', () => {
    const refused = [
      // @ts-expect-error an optional field is missing
      wire<Told>()(Type.Object({ id, names })),
      // @ts-expect-error a field is missing
      wire<Told>()(Type.Object({ id, hint })),
      // @ts-expect-error there is an optional field too many
      wire<Told>()(Type.Object({ id, names, hint, more: hint })),
      // @ts-expect-error an optional field must be there
      wire<Told>()(Type.Object({ id, names, hint: Type.String() })),
      // @ts-expect-error a field is of another type
      wire<Told>()(Type.Object({ id: Type.Number(), names, hint })),
      // @ts-expect-error an optional field is missing, within a list
      wire<readonly Told[]>()(Type.Array(Type.Object({ id, names }))),
    ];
    expect(refused).to.have.length(6);
  });
});
