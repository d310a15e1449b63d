import { defineTool } from '../tool.js';

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
