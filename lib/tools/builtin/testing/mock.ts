import { defineTool } from '../../tool.js';

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
