import { defineTool } from '../../tool.js';
import { ANY_SHAPE } from '../../../definition/shapes/shape.js';
import { exactObject, INTEGER_SCHEMA, TEXT_SCHEMA } from '../../schemas/output.js';

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
    schema: exactObject({
      status: { const: 'success' },
      message: TEXT_SCHEMA,
      inputs: { type: 'object' },
      call_count: INTEGER_SCHEMA,
    }),
  },
  // It stands in for a tool that returns something else: templates read what that will return.
  deriveOutput: () => ANY_SHAPE,
  run(inputs, context) {
    return { status: 'success', message: 'Mock tool executed', inputs, call_count: context.calls };
  },
});
