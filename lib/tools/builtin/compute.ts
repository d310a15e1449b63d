import { ToolError } from '../../common/errors.js';
import { callFunction } from '../functions/function.js';
import { defineTool } from '../tool.js';

/** Calls a function of the catalog (D49): those that come with the package, and those of tool files. */
export const compute = defineTool({
  name: 'compute',
  description: 'Calls a registered function with the other inputs as its arguments',
  inputs: {
    function: {
      type: 'string',
      registry: 'functions',
      required: true,
      description: 'the name of the function; all other inputs are its arguments',
    },
  },
  openInputs: true,
  output: { name: 'result', description: 'what the function gives', type: 'any' },
  run({ function: name, ...args }, context, registries) {
    const called = registries?.functions.get(name);
    if (called === undefined) throw ToolError.nonRetryable(`there is no function "${name}"`);
    return callFunction(called, args, context);
  },
});
