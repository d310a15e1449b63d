import { defineTool } from '../tool.js';

/** Runs another pipeline inside a task (D49). */
export const runPipeline = defineTool({
  name: 'run_pipeline',
  description: 'Runs another pipeline, from a file or written in place, and gives its outputs',
  inputs: {
    file: {
      type: 'string',
      minLength: 1,
      description: 'a pipeline file, in one of the folders that may be read',
    },
    pipeline: {
      verbatim: true,
      description: 'instead of a file: the definition, as an object or as YAML or JSON text',
    },
    params: { type: 'object', default: {}, description: 'values of its params' },
    inputs: { type: 'object', default: {}, description: 'values over its inputs' },
    session: {
      type: 'object',
      default: {},
      description: 'session values beside those that this pipeline sees',
    },
  },
  output: {
    name: 'outcome',
    description: 'outputs (by task id), waves_executed and tasks_executed',
    type: 'object',
  },
  run: (call, context) => context.run_pipeline(call),
});
