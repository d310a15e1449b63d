import { expect } from 'chai';
import { mock } from '../../../lib/tools/builtin/testing/mock.js';
import { toolContext } from '../../support/tool-context.js';

describe('mock', () => {
  it('returns its inputs and counts its calls from 1 within the run (D22)', () => {
    const inputs = { a: [1, { b: null }] };
    expect(mock.run(inputs, toolContext())).to.deep.equal({
      status: 'success',
      message: 'Mock tool executed',
      inputs,
      call_count: 1,
    });
    expect(mock.run({}, toolContext({ calls: 2 }))).to.deep.include({ inputs: {}, call_count: 2 });
  });

  it('accepts any input', () => {
    expect(mock.openInputs).to.equal(true);
  });
});
