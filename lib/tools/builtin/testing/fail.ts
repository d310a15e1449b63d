import { ToolError } from '../../../common/errors.js';
import { defineTool } from '../../tool.js';
import { exactObject, INTEGER_SCHEMA } from '../../schemas/output.js';

/** Fails always or a number of times, to try out retries and failures (D22). */
export const fail = defineTool({
  name: 'fail',
  pure: true,
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
  output: {
    name: 'result',
    description: 'attempts: the number of attempts it took',
    type: 'object',
    schema: exactObject({ attempts: INTEGER_SCHEMA }),
  },
  run({ message, times }, { attempt }) {
    if (times === null || attempt <= times) throw new ToolError(message);
    return { attempts: attempt };
  },
});
