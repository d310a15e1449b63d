import type { Json, JsonObject } from '../../common/json.js';
import { evaluate } from '../expressions/evaluate.js';
import { defineTool, type Tool } from '../tool.js';

/** Evaluates an expression, here or elsewhere. */
export type Evaluate = (source: string, input: Json, bindings: JsonObject) => Json | Promise<Json>;

/** Computes with JSONata, within limits (D49): logic belongs in tools, not in templates (D11). */
export function transformWith(evaluate: Evaluate): Tool {
  return defineTool({
    name: 'transform',
    description: 'Computes a value from another with a JSONata expression',
    inputs: {
      input: { required: true, description: 'what the expression reads, as $' },
      expression: {
        type: 'string',
        minLength: 1,
        required: true,
        description: 'in JSONata, such as $sum(lines.(price * quantity))',
      },
      bindings: {
        type: 'object',
        default: {},
        description: 'further values: {"rate": 2} is read as $rate',
      },
    },
    output: {
      name: 'value',
      description: 'what the expression gives; null when it finds nothing',
      type: 'any',
    },
    run: ({ input, expression, bindings }) => evaluate(expression, input, bindings),
  });
}

/** Evaluates in this thread: right for one run, and quick. */
export const transform = transformWith(evaluate);
