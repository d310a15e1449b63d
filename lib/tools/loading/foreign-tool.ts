import { messageOf } from '../../common/errors.js';
import { isObject, kindOf } from '../../common/json.js';
import { declarationProblem, type ForeignDeclarations } from '../declaration-problem.js';
import {
  defineTool,
  type InputDeclaration,
  type InputDeclarations,
  type OutputDeclaration,
  type Tool,
} from '../tool.js';

const known = new WeakMap<object, Tool>();

/**
 * Takes a tool by its shape (name, inputs, run), since it may come from another copy of this package or from none.
 * The same value is always the same tool.
 *
 * @param label what to call it in messages
 * @throws Error that says what is wrong with it
 */
export function asTool(value: unknown, label: string): Tool {
  if (!isObject(value)) throw new Error(`${label} is a ${kindOf(value)}, and no tool`);
  const before = known.get(value);
  if (before !== undefined) return before;
  const tool = define(value, label);
  known.set(value, tool);
  return tool;
}

function define(value: Record<string, unknown>, label: string): Tool {
  const { name, description, inputs, openInputs, output, run } = value;
  if (typeof name !== 'string') throw new Error(`${label} is no tool: it has no name`);
  const wrong = (what: string): Error => new Error(`${label} ("${name}") is no tool: ${what}`);
  if (typeof run !== 'function') throw wrong('it has no function "run"');
  if (!areDeclarations(inputs)) throw wrong('its "inputs" must be an object of {description, type, ...}');
  if (output !== undefined && !isOutput(output))
    throw wrong('its "output" must have name, description and type');
  const problem = declarationProblem(inputs);
  if (problem !== undefined) throw wrong(problem);
  try {
    return defineTool({
      name,
      description: typeof description === 'string' ? description : '',
      inputs: withDescriptions(inputs),
      openInputs: openInputs === true,
      ...(output !== undefined && { output }),
      run: (given, context): unknown => Reflect.apply(run, value, [given, context]),
    });
  } catch (error) {
    throw wrong(messageOf(error));
  }
}

function areDeclarations(inputs: unknown): inputs is ForeignDeclarations {
  return isObject(inputs) && Object.values(inputs).every(isObject);
}

function isOutput(output: unknown): output is OutputDeclaration {
  return (
    isObject(output) && ['name', 'description', 'type'].every((word) => typeof output[word] === 'string')
  );
}

function withDescriptions(inputs: ForeignDeclarations): InputDeclarations {
  const described = Object.entries(inputs).map(([name, declared]): [string, InputDeclaration] => [
    name,
    { description: '', ...declared },
  ]);
  return Object.fromEntries(described);
}
