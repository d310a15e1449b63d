import type { Json, JsonObject } from '../../common/json.js';
import { localEvaluator } from '../expressions/evaluate.js';
import { defineTool, type Tool, type ToolContext } from '../tool.js';

/** Evaluates a JSONata expression, in this process or in another. Fails with a ToolError, not retryable. */
export type EvaluateExpression = (
  source: string,
  input: Json,
  bindings: JsonObject,
  context: ToolContext,
) => Json | Promise<Json>;

/**
 * Creates the tool that evaluates JSONata within limits (D49): logic belongs in tools, not in templates (D11).
 *
 * @param evaluate where expressions are evaluated
 */
export function createTransform(evaluate: EvaluateExpression): Tool {
  return defineTool({
    name: 'transform',
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
export const transform = createTransform((source, input, bindings, { run_id: runId }) =>
  localEvaluator.evaluate(source, input, bindings, runId),
);
