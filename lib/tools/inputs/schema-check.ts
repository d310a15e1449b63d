import type { ValidateFunction } from 'ajv/dist/2020.js';
import { messageOf, WavetrainError } from '../../common/errors.js';
import { type JsonObject, setOwn } from '../../common/json.js';
import { compileSchema } from '../../common/json-schema/ajv.js';
import { violationsOf } from '../../common/json-schema/violation.js';
import { inputSchemaOf } from './input-schema.js';
import type { InputDeclaration, Tool } from '../tool.js';
import type { InputCheck } from './inspection.js';

/**
 * The check of a tool by the JSON Schema of its declarations. The inputs given stay as they are.
 *
 * @throws WavetrainError `bad_tool_file` when the declarations make no JSON Schema.
 */
export function schemaCheck(tool: Tool): InputCheck {
  const validate = validatorOf(tool);
  return (inputs) => {
    // Without a prototype nothing is found that is not there, whatever an input is called.
    const complete: JsonObject = Object.assign(Object.create(null), copyForDefaults(tool, inputs));
    const violations = validate(complete) ? [] : violationsOf(validate, complete);
    return { inputs: { ...complete }, violations };
  };
}

function validatorOf(tool: Tool): ValidateFunction {
  try {
    return compileSchema(inputSchemaOf(tool), { useDefaults: true });
  } catch (error) {
    const what = `tool "${tool.name}" declares inputs that cannot be checked: ${messageOf(error)}`;
    throw new WavetrainError('bad_tool_file', what, { cause: error });
  }
}

/** Defaults inside a value are written into it, and the value may belong to somebody else. */
function copyForDefaults(tool: Tool, inputs: JsonObject): JsonObject {
  const copy = { ...inputs };
  for (const [name, declaration] of Object.entries(tool.inputs)) {
    const value = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
    if (typeof value === 'object' && value !== null && hasInnerDefault(declaration)) {
      setOwn(copy, name, structuredClone(value));
    }
  }
  return copy;
}

function hasInnerDefault({ items, properties }: InputDeclaration): boolean {
  return JSON.stringify([items, properties]).includes('"default"');
}
