import { expect } from 'chai';
import { mock } from '../../../lib/tools/builtin/testing/mock.js';
import { toolContext } from '../../support/tool-context.js';

describe('mock', () => {
  it('returns its inputs and counts its calls from 1 within the run (D22)', () => {
    const memory = new Map<string, unknown>();
    const inputs = { a: [1, { b: null }] };
    expect(mock.run(inputs, toolContext({ memory }))).to.deep.equal({
      status: 'success',
      message: 'Mock tool executed',
      inputs,
      call_count: 1,
    });
    expect(mock.run({}, toolContext({ memory }))).to.deep.include({ inputs: {}, call_count: 2 });
    expect(mock.run({}, toolContext())).to.deep.include({ call_count: 1 });
  });

  it('accepts any input', () => {
    expect(mock.openInputs).to.equal(true);
  });
});
