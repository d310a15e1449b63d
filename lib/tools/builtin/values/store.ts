import { defineTool } from '../../tool.js';

/** Writes a value to the blackboard and returns it (Tools; Blackboard, rule 4). */
export const store = defineTool({
  name: 'store',
  pure: true,
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
  deriveOutput: ({ value }, shapeOf) => shapeOf(value),
  run({ key, value, append }, context) {
    context.blackboard.write(key, value, append);
    return value;
  },
});
