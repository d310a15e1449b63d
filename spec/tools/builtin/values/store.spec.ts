import { expect } from 'chai';
import { store } from '../../../../lib/tools/builtin/values/store.js';
import { validateInputs } from '../../../../lib/tools/inputs/validate.js';
import { toolContext } from '../../../support/tool-context.js';

describe('store', () => {
  it('writes to the blackboard and returns the value (Tools)', () => {
    const context = toolContext();
    const value = { list: [1] };
    expect(store.run({ key: 'k', value, append: false }, context)).to.equal(value);
    expect(store.run({ key: 'k', value: null, append: true }, context)).to.equal(null);
    expect(context.writes).to.deep.equal([
      { key: 'k', value, append: false },
      { key: 'k', value: null, append: true },
    ]);
  });

  it('overwrites the value unless append is true (Blackboard, rule 4)', () => {
    expect(validateInputs(store, { key: 'k', value: 1 })).to.deep.equal({
      ok: true,
      inputs: { key: 'k', value: 1, append: false },
    });
  });

  it('accepts null as a value, but requires a value', () => {
    expect(validateInputs(store, { key: 'k', value: null })).to.have.property('ok', true);
    expect(validateInputs(store, { key: 'k' })).to.deep.equal({
      ok: false,
      errors: ['input "value" is missing'],
    });
  });
});
