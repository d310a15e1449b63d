import type { JsonObject } from '../../common/json.js';
import { createInputSchema } from '../../tools/inputs/schema-validator.js';
import { validateInputs } from '../../tools/inputs/validate.js';
import { defineTool, type InputDeclarations, type InputsOf, type Tool } from '../../tools/tool.js';

/** How a call of an MCP host ends, and what the host wants to know meanwhile. */
export interface HostCall {
  /** Aborts when the host cancels the call, or is gone. */
  readonly signal: AbortSignal;
  /** Reports to the host how far the call is; undefined when it did not ask. `progress` must grow. */
  readonly report: ((progress: number, total: number, message: string) => void) | undefined;
}

/** What a call answers: data, which the host also gets as JSON text. */
export interface HostAnswer {
  readonly value: JsonObject;
  /** Whether the call has failed, as the model of the host shall know. */
  readonly isError?: boolean;
}

/** A tool that Wavetrain offers to MCP hosts. */
export interface ServedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputs: InputDeclarations;
  /** Whether calling it changes nothing. */
  readonly readOnly: boolean;
  /** Answers a call with valid inputs, defaults filled in. */
  readonly answer: (inputs: JsonObject, call: HostCall) => Promise<HostAnswer>;
}

/** Defines a tool for hosts, whose inputs have the types of their declarations. */
export function serveTool<const M extends InputDeclarations>(
  tool: Omit<ServedTool, 'inputs' | 'answer'> & {
    readonly inputs: M;
    readonly answer: (inputs: InputsOf<M>, call: HostCall) => Promise<HostAnswer>;
  },
): ServedTool {
  // The server checks the inputs against the declarations.
  return { ...tool, answer: (inputs, call) => tool.answer(inputs as InputsOf<M>, call) };
}

/** A tool, as hosts list it. */
export interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject & { readonly type: 'object' };
  readonly readOnly: boolean;
}

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
