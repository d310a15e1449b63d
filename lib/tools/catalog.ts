import { WavetrainError } from '../common/errors.js';
import type { Json } from '../common/json.js';
import { fail, mock, sleep, store } from './builtin/fail-mock-sleep-store.js';
import { ingestDocument } from './builtin/ingest-document.js';
import { runPipeline } from './builtin/run-pipeline.js';
import { transform } from './builtin/transform.js';
import type { InputDeclaration, OutputDeclaration, Tool } from './tool.js';

/** The tools that a pipeline may call, by name. Immutable: {@link Catalog.with} returns another catalog. */
export class Catalog {
  readonly #tools = new Map<string, Tool>();

  /** @throws WavetrainError `bad_tool_file` when two different tools have the same name */
  constructor(tools: Iterable<Tool>) {
    for (const tool of tools) {
      if ((this.#tools.get(tool.name) ?? tool) !== tool) {
        throw new WavetrainError(
          'bad_tool_file',
          `there are two tools named "${tool.name}": rename one of them`,
        );
      }
      this.#tools.set(tool.name, tool);
    }
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  /** Lists the names in alphabetical order. */
  names(): string[] {
    return [...this.#tools.keys()].sort();
  }

  /** Describes all tools in alphabetical order. */
  metadata(): ToolMetadata[] {
    return [...this.#tools.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(describeTool);
  }

  /** Adds tools. @throws WavetrainError `bad_tool_file` when a name is taken by a different tool */
  with(tools: Iterable<Tool>): Catalog {
    return new Catalog([...this.#tools.values(), ...tools]);
  }

  /** Replaces the tool that has the same name. */
  withReplacement(tool: Tool): Catalog {
    return new Catalog([...this.#tools.values()].map((one) => (one.name === tool.name ? tool : one)));
  }
}

/** The tools that come with the package (D22, D49). */
export const BUILTIN_TOOLS: readonly Tool[] = [
  fail,
  ingestDocument,
  mock,
  runPipeline,
  sleep,
  store,
  transform,
];

/** Creates the catalog of the built-in tools. */
export function builtinCatalog(): Catalog {
  return new Catalog(BUILTIN_TOOLS);
}

/** One input of a tool, as the catalog lists it. */
export interface InputMetadata {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  /** null when the input has no default. */
  readonly default: Json;
  readonly type?: string;
  readonly enum?: readonly Json[];
  /** Templates inside a list or an object are not resolved. */
  readonly verbatim?: true;
}

/** A tool, as the catalog lists it (Tool metadata). */
export interface ToolMetadata {
  readonly name: string;
  readonly description: string;
  readonly inputs: Record<string, InputMetadata>;
  readonly output: OutputDeclaration;
}

/** Derives the metadata of a tool from its declaration (D48). */
function describeTool({ name, description, inputs, output }: Tool): ToolMetadata {
  const described = Object.entries(inputs).map(
    ([input, declaration]) => [input, describeInput(input, declaration)] as const,
  );
  return {
    name,
    description,
    inputs: Object.fromEntries<InputMetadata>(described),
    output: { name: output.name, description: output.description, type: output.type },
  };
}

function describeInput(name: string, declaration: InputDeclaration): InputMetadata {
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
