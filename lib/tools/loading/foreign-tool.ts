import { messageOf } from '../../common/errors.js';
import { schemaError } from '../../common/json-schema/ajv.js';
import { isObject, kindOf } from '../../common/json.js';
import { nearest } from '../../definition/suggest.js';
import { isFlat } from '../inputs/flat-check.js';
import { inputSchemaOf, SAME_WORDS } from '../inputs/input-schema.js';
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

/** Declarations that no compiler has seen. */
type ForeignDeclarations = Readonly<Record<string, Partial<InputDeclaration>>>;

const WORDS: readonly string[] = ['description', 'required', 'enum', 'verbatim', ...SAME_WORDS];

/** What is wrong with the declared inputs of a tool; undefined when they are sound. */
function declarationProblem(inputs: ForeignDeclarations): string | undefined {
  for (const [name, declared] of Object.entries(inputs)) {
    const problem = wordProblem(declared);
    if (problem !== undefined) return `its input "${name}" ${problem}`;
  }
  if (isFlat(inputs)) return undefined;
  const problem = schemaError(inputSchemaOf({ inputs, openInputs: false }));
  return problem === undefined ? undefined : `its inputs make no JSON Schema: ${problem}`;
}

function wordProblem(declared: Partial<InputDeclaration>): string | undefined {
  const unknown = Object.keys(declared).find((word) => !WORDS.includes(word));
  if (unknown !== undefined) {
    const meant = nearest(unknown, WORDS);
    return `says "${unknown}", ${meant === undefined ? `but only ${WORDS.join(', ')} are known` : `and means "${meant}"?`}`;
  }
  const { required, verbatim, description } = declared;
  if (required !== undefined && typeof required !== 'boolean') return 'must say required: true or false';
  if (verbatim !== undefined && typeof verbatim !== 'boolean') return 'must say verbatim: true or false';
  return description === undefined || typeof description === 'string'
    ? undefined
    : 'must have a text as description';
}
