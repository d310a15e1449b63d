import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { Path } from '../definition/problem.js';
import { messageOf, WavetrainError } from '../errors.js';
import { isObject, type Json, type JsonObject, setOwn } from '../json.js';
import { compileSchema } from '../schema/ajv.js';
import { inputSchemaOf } from './input-schema.js';
import type { InputDeclaration, Tool } from './tool.js';
import type { InputCheck, Violation } from './violation.js';

/** How the compiler names what a keyword asks for. */
const WANTED = ['missingProperty', 'additionalProperty', 'type', 'allowedValues', 'limit', 'pattern'];

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
    const violations = validate(complete)
      ? []
      : (validate.errors ?? []).map((error) => violationOf(error, complete));
    // They hold on to the inputs.
    validate.errors = null;
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

function violationOf(error: ErrorObject, inputs: JsonObject): Violation {
  const { path, value } = placeOf(error.instancePath, inputs);
  return {
    path,
    keyword: error.keyword,
    wanted: wantedOf(error),
    value,
    ...(error.message !== undefined && { message: error.message }),
    branch: /\/(anyOf|oneOf|not|if|then|else|contains)(\/|$)/.test(error.schemaPath),
  };
}

function wantedOf(error: ErrorObject): Json | undefined {
  const params: Record<string, Json> = error.params;
  return WANTED.map((name) => params[name]).find((wanted) => wanted !== undefined);
}

/** What a JSON pointer points at. */
function placeOf(pointer: string, root: unknown): { path: Path; value: unknown } {
  const path: (string | number)[] = [];
  let value = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(value) ? Number(key) : key);
    value = Array.isArray(value) ? value[Number(key)] : isObject(value) ? value[key] : undefined;
  }
  return { path, value };
}
