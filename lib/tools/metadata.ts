import type { Json } from '../common/json.js';
import type { InputDeclaration, OutputDeclaration, Tool } from './tool.js';

/** One input as the catalog shows it. */
export interface InputMetadata {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  /** null when there is none. */
  readonly default: Json;
  readonly type?: string;
  readonly enum?: readonly Json[];
  /** A list or an object is taken as it is written, templates and all. */
  readonly verbatim?: true;
}

/** A tool as the catalog shows it (Tool metadata). */
export interface ToolMetadata {
  readonly name: string;
  readonly description: string;
  readonly inputs: Record<string, InputMetadata>;
  readonly output: OutputDeclaration;
}

/** Describes a tool for people and programs, from its one declaration (D48). */
export function metadataOf(tool: Tool): ToolMetadata {
  const inputs = Object.entries(tool.inputs).map(([name, declaration]): [string, InputMetadata] => [
    name,
    inputOf(name, declaration),
  ]);
  const { name, description, type } = tool.output;
  return {
    name: tool.name,
    description: tool.description,
    inputs: Object.fromEntries(inputs),
    output: { name, description, type },
  };
}

function inputOf(name: string, declaration: InputDeclaration): InputMetadata {
  return {
    name,
    description: declaration.description,
    required: declaration.required ?? false,
    default: declaration.default ?? null,
    ...(declaration.type !== undefined && { type: declaration.type }),
    ...(declaration.enum !== undefined && { enum: declaration.enum }),
    ...(declaration.verbatim === true && { verbatim: true }),
  };
}
