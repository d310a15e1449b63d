import type { JsonObject } from '../../common/json.js';
import { createInputSchema } from '../../tools/inputs/schema-validator.js';
import { validateInputs } from '../../tools/inputs/validate.js';
import { defineTool, type Tool } from '../../tools/tool.js';
import type { ListedTool } from './sdk.js';
import type { ServedTool } from './served-tool.js';

/** The inputs of served tools are declared, checked and described like those of tools for tasks. */
function asTool({ name, description, inputs }: ServedTool): Tool {
  return defineTool({ name, description, inputs, run: () => null });
}

const declared = new WeakMap<ServedTool, Tool>();

/** Checks the arguments of a call, and fills in defaults. */
export function checkArguments(tool: ServedTool, args: JsonObject): ReturnType<typeof validateInputs> {
  let known = declared.get(tool);
  if (known === undefined) {
    known = asTool(tool);
    declared.set(tool, known);
  }
  return validateInputs(known, args);
}

/** Describes a tool as hosts list it, with the JSON Schema of its inputs. */
export function toListedTool(tool: ServedTool): ListedTool {
  const { name, title, description, inputs, readOnly } = tool;
  const schema = createInputSchema(asTool(tool));
  const properties: JsonObject = {};
  for (const [input, property] of Object.entries(schema['properties'] as Record<string, JsonObject>)) {
    properties[input] = { ...property, description: inputs[input]?.description ?? '' };
  }
  return { name, title, description, readOnly, inputSchema: { ...schema, type: 'object', properties } };
}
