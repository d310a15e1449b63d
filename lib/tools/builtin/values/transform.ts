import { type EvaluateExpression, evaluateHere } from '../../expressions/evaluate.js';
import { defineTool, type Tool } from '../../tool.js';

/** Creates the tool that evaluates JSONata within limits (D49): logic belongs in tools, not in templates (D11). */
export function createTransform(evaluate: EvaluateExpression): Tool {
  return defineTool({
    name: 'transform',
    pure: true,
    description: 'Computes a value from another with a JSONata expression',
    inputs: {
      input: { required: true, description: 'the value that the expression reads as $' },
      expression: {
        type: 'string',
        format: 'jsonata',
        minLength: 1,
        required: true,
        description: 'a JSONata expression, such as $sum(lines.(price * quantity))',
      },
      bindings: {
        type: 'object',
        format: 'bindings',
        default: {},
        description: 'named values: the expression reads {"rate": 2} as $rate',
      },
    },
    output: {
      name: 'value',
      description: 'the result of the expression; null when it matches nothing',
      type: 'any',
    },
    run: ({ input, expression, bindings }, context) => evaluate(expression, input, bindings, context),
  });
}

/** Evaluates in this process: the fastest way, for a single run. */
export const transform = createTransform(evaluateHere);
