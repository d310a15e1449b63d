import { ToolError } from '../../common/errors.js';
import { defineTool, type ToolContext } from '../tool.js';

/** The longest delay of a timer (24.8 days). */
const MAX_SECONDS = 2_147_483;

/** Waits; fails early when its signal aborts (D19, D22). */
export const sleep = defineTool({
  name: 'sleep',
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
  async run({ seconds, value }, context) {
    await abortableDelay(seconds * 1000, context);
    return value;
  },
});

function abortableDelay(ms: number, { clock, signal }: ToolContext): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clock.clearTimeout(timer);
      reject(ToolError.nonRetryable('stopped'));
    };
    const timer = clock.setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
