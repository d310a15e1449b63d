import { expect } from 'chai';
import { ToolError } from '../../../lib/common/errors.js';
import { fail } from '../../../lib/tools/builtin/testing/fail.js';
import { validateInputs } from '../../../lib/tools/inputs/validate.js';
import type { JsonObject } from '../../../lib/common/json/json.js';
import { toolContext } from '../../support/tool-context.js';

function attempt(inputs: JsonObject, number: number): unknown {
  const checked = validateInputs(fail, inputs);
  if (!checked.ok) throw new TypeError(checked.errors.join());
  return fail.run(checked.inputs, toolContext({ attempt: number }));
}

describe('fail (D22)', () => {
  it('fails the first attempts, then returns the number of attempts', () => {
    for (const number of [1, 2])
      expect(() => attempt({ times: 2 }, number)).to.throw(ToolError, 'failed as asked');
    expect(attempt({ times: 2 }, 3)).to.deep.equal({ attempts: 3 });
    expect(attempt({ times: 0 }, 1)).to.deep.equal({ attempts: 1 });
  });

  it('always fails without a number of times, and with null', () => {
    for (const inputs of [{}, { times: null }]) expect(() => attempt(inputs, 1000)).to.throw(ToolError);
  });

  it('fails with the given message and a retryable error', () => {
    expect(() => attempt({ message: 'out of paper' }, 1))
      .to.throw(ToolError, 'out of paper')
      .with.property('retryable', true);
  });

  it('rejects an invalid number of times', () => {
    for (const times of [-1, 1.5, 'two']) expect(() => attempt({ times }, 1)).to.throw(TypeError, '"times"');
  });
});
