import { expect } from 'chai';
import { store } from '../../../lib/tools/builtin/basic.js';
import { checkInputs } from '../../../lib/tools/inputs/input-check.js';
import { toolContext } from '../../support/tool-context.js';

describe('store', () => {
  it('writes to the blackboard and echoes the value (Tools)', () => {
    const context = toolContext();
    const value = { list: [1] };
    expect(store.run({ key: 'k', value, append: false }, context)).to.equal(value);
    expect(store.run({ key: 'k', value: null, append: true }, context)).to.equal(null);
    expect(context.writes).to.deep.equal([
      { key: 'k', value, append: false },
      { key: 'k', value: null, append: true },
    ]);
  });

  it('overwrites unless told to append (Blackboard, rule 4)', () => {
    expect(checkInputs(store, { key: 'k', value: 1 })).to.deep.equal({
      ok: true,
      inputs: { key: 'k', value: 1, append: false },
    });
  });

  it('takes null as a value, but not its absence', () => {
    expect(checkInputs(store, { key: 'k', value: null })).to.have.property('ok', true);
    expect(checkInputs(store, { key: 'k' })).to.deep.equal({
      ok: false,
      errors: ['input "value" is missing'],
    });
  });
});
