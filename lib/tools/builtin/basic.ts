import { ToolError } from '../../common/errors.js';
import { defineTool, type ToolContext } from '../tool.js';

const CALLS = 'mock.call_count';

/** Takes anything and does nothing; its calls are counted from 1 within the run (D22). */
export const mock = defineTool({
  name: 'mock',
  description: 'Does nothing: answers with the inputs it was given, to try a pipeline out',
  inputs: {},
  openInputs: true,
  output: {
    name: 'result',
    description: 'status ("success"), message, inputs (as given) and call_count (within the run, from 1)',
    type: 'object',
  },
  run(inputs, context) {
    const before = context.memory.get(CALLS);
    const callCount = (typeof before === 'number' ? before : 0) + 1;
    context.memory.set(CALLS, callCount);
    return { status: 'success', message: 'Mock tool executed', inputs, call_count: callCount };
  },
});

/** Fails, always or a number of times, to try out what a pipeline does then (D22). */
export const fail = defineTool({
  name: 'fail',
  description: 'Fails as asked, to try out retries and failures',
  inputs: {
    message: { type: 'string', default: 'failed as asked', description: 'what the error says' },
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

/** Writes to the blackboard and echoes the value (Tools; Blackboard, rule 4). */
export const store = defineTool({
  name: 'store',
  description: 'Stores a value on the blackboard, where later tasks read it as {{session.<key>}}',
  inputs: {
    key: { type: 'string', minLength: 1, required: true, description: 'where to store it' },
    value: { required: true, description: 'what to store' },
    append: {
      type: 'boolean',
      default: false,
      description: 'add the value to the list at the key instead of replacing what is there',
    },
  },
  output: { name: 'value', description: 'the value, as it was given', type: 'any' },
  run({ key, value, append }, context) {
    context.blackboard.write(key, value, append);
    return value;
  },
});
