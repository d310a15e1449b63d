import { delay } from '../../../common/clock.js';
import { ToolError } from '../../../common/errors.js';
import { defineTool } from '../../tool.js';

/** The longest delay of a timer (24.8 days). */
const MAX_SECONDS = 2_147_483;

/** Waits; fails early when its signal aborts (D19, D22). */
export const sleep = defineTool({
  name: 'sleep',
  pure: true,
  description: 'Waits for a number of seconds, then returns a value',
  inputs: {
    seconds: {
      type: 'number',
      minimum: 0,
      maximum: MAX_SECONDS,
      required: true,
      description: 'how long to wait',
    },
    value: { default: null, description: 'the value to return' },
  },
  output: { name: 'value', description: 'the value, unchanged', type: 'any' },
  deriveOutput: ({ value = null }, shapeOf) => shapeOf(value),
  async run({ seconds, value }, context) {
    await delay(seconds * 1000, context).catch(() => {
      throw ToolError.nonRetryable('stopped');
    });
    return value;
  },
});
