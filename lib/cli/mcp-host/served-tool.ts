import { errorMessage, ToolError, WavetrainError } from '../../common/errors.js';
import type { JsonObject } from '../../common/json/json.js';
import { createInputSchema } from '../../tools/inputs/schema-validator.js';
import { validateInputs } from '../../tools/inputs/validate.js';
import { defineTool, type InputDeclarations, type InputsOf, type Tool } from '../../tools/tool.js';

/** How a call of an MCP host ends, and what the host wants to know meanwhile. */
export interface HostCall {
  /** Aborts when the host cancels the call, or is gone. */
  readonly signal: AbortSignal;
  /** Reports to the host how far the call is; undefined when it did not ask. `progress` must grow. */
  readonly report: ((progress: number, total: number, message: string) => void) | undefined;
  /** The name of the host; null when it has none. */
  readonly host: string | null;
}

/** The answer to a call: data, which the host also gets as JSON text. */
export interface HostAnswer {
  readonly value: JsonObject;
  /** True when the call has failed, as the model of the host shall know. */
  readonly isError?: boolean;
}

export interface ServedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The inputs of the tool, which are declared, checked and described like those of tools for tasks. */
  readonly declared: Tool;
  /** True when a call changes nothing. */
  readonly readOnly: boolean;
  /** True when a call asks or changes something outside of this machine's files, such as a language model. */
  readonly openWorld: boolean;
  /** Answers a call with valid inputs, defaults filled in. */
  readonly answer: (inputs: JsonObject, call: HostCall) => Promise<HostAnswer>;
}

/** Defines a tool for hosts, whose inputs have the types of their declarations. */
export function serveTool<const M extends InputDeclarations>(
  tool: Omit<ServedTool, 'declared' | 'answer'> & {
    readonly inputs: M;
    readonly answer: (inputs: InputsOf<M>, call: HostCall) => Promise<HostAnswer>;
  },
): ServedTool {
  const { inputs: declarations, answer, ...shown } = tool;
  const { name, description } = shown;
  return {
    ...shown,
    declared: defineTool({ name, description, inputs: declarations, run: () => null }),
    // The inputs are checked against the declarations before.
    answer: (inputs, call) => answer(inputs as InputsOf<M>, call),
  };
}

export interface ListedTool extends Omit<ServedTool, 'declared' | 'answer'> {
  readonly inputSchema: JsonObject & { readonly type: 'object' };
}

/** Describes a tool as hosts list it, with the JSON Schema of its inputs. */
export function toListedTool({ declared, answer: _, ...shown }: ServedTool): ListedTool {
  const schema = createInputSchema(declared);
  const properties: JsonObject = {};
  for (const [input, property] of Object.entries(schema['properties'] as Record<string, JsonObject>)) {
    properties[input] = { ...property, description: declared.inputs[input]?.description ?? '' };
  }
  return { ...shown, inputSchema: { ...schema, type: 'object', properties } };
}

/**
 * Answers a call of a host, never rejects: a failure is an answer, since the model of the host can read nothing else.
 * @param reportBug receives an error that nobody expects
 */
export async function answerCall(
  served: readonly ServedTool[],
  name: string,
  args: unknown,
  call: HostCall,
  reportBug: (error: unknown) => void,
): Promise<HostAnswer> {
  try {
    const tool = served.find((candidate) => candidate.name === name);
    if (tool === undefined)
      return failed(`there is no tool "${name}"; there are ${served.map((other) => other.name).join(', ')}`);
    const checked = validateInputs(tool.declared, args as JsonObject);
    return checked.ok ? await tool.answer(checked.inputs, call) : failed(checked.errors.join('; '));
  } catch (error) {
    if (error instanceof WavetrainError) return failed(error.message, error.code);
    if (!(error instanceof ToolError)) reportBug(error);
    return failed(errorMessage(error));
  }
}

function failed(error: string, code?: string): HostAnswer {
  return { value: { error, ...(code !== undefined && { code }) }, isError: true };
}
