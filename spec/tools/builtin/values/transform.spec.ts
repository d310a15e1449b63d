import { expect } from 'chai';
import { createTransform, transform } from '../../../../lib/tools/builtin/values/transform.js';
import type { JsonObject } from '../../../../lib/common/json/json.js';
import { validateInputs } from '../../../../lib/tools/inputs/validate.js';
import { toolContext } from '../../../support/tool-context.js';

function run(inputs: JsonObject): unknown {
  const checked = validateInputs(transform, inputs);
  return checked.ok ? transform.run(checked.inputs, toolContext()) : checked.errors;
}

describe('transform (D49)', () => {
  it('evaluates an expression with its input and bindings', () => {
    const input = {
      lines: [
        { price: 2, quantity: 3 },
        { price: 5, quantity: 1 },
      ],
    };
    expect(
      run({ input, expression: '$sum(lines.(price * quantity)) * $rate', bindings: { rate: 2 } }),
    ).to.equal(22);
    expect(run({ input: [1, 2, 3], expression: '$count($)' })).to.equal(3);
    expect(run({ input: null, expression: '"constant"' })).to.equal('constant');
  });

  it('requires an expression and an input', () => {
    expect(run({ expression: '' })).to.have.members([
      'input "input" is missing',
      'input "expression" must not be empty',
    ]);
    expect(run({ input: 1, expression: '1', bindings: [] })).to.deep.equal([
      'input "bindings" must be an object, not a list',
    ]);
  });

  it('passes the context of its attempt on, whose signal and timeout apply to the expression (D19)', () => {
    const context = toolContext();
    const tool = createTransform((...request) => {
      expect(request).to.deep.equal(['$ + 1', 1, { a: 2 }, context]);
      return 'evaluated';
    });
    const result = tool.run({ input: 1, expression: '$ + 1', bindings: { a: 2 } }, context);
    expect(result).to.equal('evaluated');
  });
});
