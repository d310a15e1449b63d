import { defineTool } from '../../tool.js';

/** Accepts any inputs and returns them; counts its calls within the run (D22). */
export const mock = defineTool({
  name: 'mock',
  pure: true,
  description: 'Does nothing and returns its inputs, to try out a pipeline',
  inputs: {},
  openInputs: true,
  output: {
    name: 'result',
    description: 'status ("success"), message, inputs (unchanged) and call_count (within the run, from 1)',
    type: 'object',
  },
  run(inputs, context) {
    return { status: 'success', message: 'Mock tool executed', inputs, call_count: context.calls };
  },
});
