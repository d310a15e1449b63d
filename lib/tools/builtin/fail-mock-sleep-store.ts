import { ToolError } from '../../common/errors.js';
import { defineTool, type ToolContext } from '../tool.js';

/** The key of the call counter in the run's memory. */
const CALL_COUNT = 'mock.call_count';

/** Accepts any inputs and returns them; counts its calls within the run (D22). */
export const mock = defineTool({
  name: 'mock',
  description: 'Does nothing and returns its inputs, to try out a pipeline',
  inputs: {},
  openInputs: true,
  output: {
    name: 'result',
    description: 'status ("success"), message, inputs (unchanged) and call_count (within the run, from 1)',
    type: 'object',
  },
  run(inputs, context) {
    const before = context.memory.get(CALL_COUNT);
    const callCount = (typeof before === 'number' ? before : 0) + 1;
    context.memory.set(CALL_COUNT, callCount);
    return { status: 'success', message: 'Mock tool executed', inputs, call_count: callCount };
  },
});

/** Fails always or a number of times, to try out retries and failures (D22). */
export const fail = defineTool({
  name: 'fail',
  description: 'Fails as asked, to try out retries and failures',
  inputs: {
    message: { type: 'string', default: 'failed as asked', description: 'the message of the error' },
    times: {
      type: 'integer',
      minimum: 0,
      default: null,
      description: 'number of attempts of the task or item that fail before one succeeds; null: all of them',
    },
  },
  output: { name: 'result', description: 'attempts: the number of attempts it took', type: 'object' },
  run({ message, times }, { attempt }) {
    if (times === null || attempt <= times) throw new ToolError(message);
    return { attempts: attempt };
  },
});

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

/** Writes a value to the blackboard and returns it (Tools; Blackboard, rule 4). */
export const store = defineTool({
  name: 'store',
  description: 'Stores a value on the blackboard, where later tasks read it as {{session.<key>}}',
  inputs: {
    key: { type: 'string', minLength: 1, required: true, description: 'the key to store it under' },
    value: { required: true, description: 'the value to store' },
    append: {
      type: 'boolean',
      default: false,
      description: 'add the value to the list at the key instead of replacing what is there',
    },
  },
  output: { name: 'value', description: 'the value, unchanged', type: 'any' },
  run({ key, value, append }, context) {
    context.blackboard.write(key, value, append);
    return value;
  },
});
