import type { JsonObject } from '../../common/json.js';
import type { InputDeclarations, InputsOf } from '../../tools/tool.js';

/** How a call of an MCP host ends, and what the host wants to know meanwhile. */
export interface HostCall {
  /** Aborts when the host cancels the call, or is gone. */
  readonly signal: AbortSignal;
  /** Tells the host how far the call is; undefined when it did not ask. `progress` must grow. */
  readonly report: ((progress: number, total: number, message: string) => void) | undefined;
}

/** What a call answers: data, which the host also gets as JSON text. */
export interface HostAnswer {
  readonly value: JsonObject;
  /** Whether the host shall tell its model that the call has failed. */
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
