import { ToolError } from '../../common/errors.js';
import { defineTool, type ToolContext } from '../tool.js';

/** A timer holds no more (24.8 days). */
const LONGEST_SECONDS = 2_147_483;

/** Waits, and ends early when it is told to stop (D19, D22). */
export const sleep = defineTool({
  name: 'sleep',
  description: 'Waits for a number of seconds, then gives a value',
  inputs: {
    seconds: {
      type: 'number',
      minimum: 0,
      maximum: LONGEST_SECONDS,
      required: true,
      description: 'how long to wait',
    },
    value: { default: null, description: 'what to give afterwards' },
  },
  output: { name: 'value', description: 'the value, as it was given', type: 'any' },
  async run({ seconds, value }, context) {
    await pause(seconds * 1000, context);
    return value;
  },
});

function pause(ms: number, { clock, signal }: ToolContext): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clock.clearTimeout(timer);
      reject(new ToolError('stopped', { retryable: false }));
    };
    const timer = clock.setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
