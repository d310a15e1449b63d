import { ToolError } from '../../../common/errors.js';
import type { Json, JsonObject } from '../../../common/json/json.js';
import { writeStart } from '../../../common/json/json-writer.js';
import { type EvaluateExpression, evaluateHere } from '../../expressions/evaluate.js';
import { defineTool, type Tool } from '../../tool.js';

/** Creates the tool that fails its task when a JSONata expression is not true. */
export function createAssert(evaluate: EvaluateExpression): Tool {
  return defineTool({
    name: 'assert',
    pure: true,
    description: 'Fails the task unless a JSONata expression is true; returns its input',
    inputs: {
      input: { required: true, description: 'the value that the expression reads as $' },
      that: {
        type: 'string',
        format: 'jsonata',
        minLength: 1,
        required: true,
        description: 'a JSONata expression, such as $count(lines) > 0',
      },
      bindings: {
        type: 'object',
        format: 'bindings',
        default: {},
        description: 'named values: the expression reads {"least": 2} as $least',
      },
      message: { type: 'string', default: null, description: 'what the error says when it is not true' },
    },
    output: { name: 'input', description: 'the input, unchanged', type: 'any' },
    deriveOutput: ({ input }, shapeOf) => shapeOf(input),
    async run({ input, that, bindings, message }, context) {
      const value = await evaluate(that, input, bindings, context);
      if (value === true) return input;
      throw ToolError.nonRetryable(
        describeFailure(message ?? `${writeStart(that, MAX_SHOWN)} does not hold`, value, input, bindings),
      );
    },
  });
}

/** Evaluates in this process: the fastest way, for a single run. */
export const assert = createAssert(evaluateHere);

/** Longer values are cut: the record of the run has them. */
const MAX_SHOWN = 500;
const MAX_BINDINGS = 10;

function describeFailure(sentence: string, value: Json, input: Json, bindings: JsonObject): string {
  const result =
    value === null
      ? 'the expression matches nothing'
      : `the expression gives ${writeStart(value, MAX_SHOWN)}, not true`;
  const given = Object.entries(bindings).slice(0, MAX_BINDINGS);
  const shown = [
    `input ${writeStart(input, MAX_SHOWN)}`,
    ...given.map(([name, bound]) => `$${name} ${writeStart(bound, MAX_SHOWN)}`),
  ];
  return `${sentence} (${result}; ${shown.join(', ')})`;
}
