import { WavetrainError } from '../common/errors.js';
import type { Json } from '../common/json.js';
import type { ToolSchema } from '../definition/schema/json-schema.js';
import { fail, mock, sleep, store } from './builtin/fail-mock-sleep-store.js';
import { ingestDocument } from './builtin/ingest-document.js';
import { runPipeline } from './builtin/run-pipeline.js';
import { transform } from './builtin/transform.js';
import { createToolSchema } from './inputs/editor-schema.js';
import type { ToolInput, OutputDeclaration, Tool } from './tool.js';

/** The tools that a pipeline may call, by name. Immutable: {@link Catalog.with} returns another catalog. */
export class Catalog {
  readonly #tools = new Map<string, Tool>();
  readonly #builtinTools: ReadonlySet<Tool>;

  /**
   * An own tool replaces the built-in one of the same name (D58).
   *
   * @throws WavetrainError `bad_tool_file` when two different own tools have the same name
   */
  constructor(tools: Iterable<Tool>, builtinTools: Iterable<Tool> = BUILTIN_TOOLS) {
    this.#builtinTools = new Set(builtinTools);
    for (const tool of tools) this.#add(tool);
  }

  #add(tool: Tool): void {
    const present = this.#tools.get(tool.name);
    if (present === undefined || this.#builtinTools.has(present)) this.#tools.set(tool.name, tool);
    else if (present !== tool && !this.#builtinTools.has(tool)) {
      throw new WavetrainError(
        'bad_tool_file',
        `there are two tools named "${tool.name}": rename one of them`,
      );
    }
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  /** Whether a name means the tool that comes with the package. */
  isBuiltin(name: string): boolean {
    const tool = this.#tools.get(name);
    return tool !== undefined && this.#builtinTools.has(tool);
  }

  /** Lists the names in alphabetical order. */
  names(): string[] {
    return [...this.#tools.keys()].sort();
  }

  /** Describes all tools in alphabetical order. */
  metadata(): ToolMetadata[] {
    return this.#sorted().map((tool) => describeTool(tool, this.isBuiltin(tool.name)));
  }

  /** Describes all tools in alphabetical order for the JSON Schema of definitions. */
  toolSchemas(): ToolSchema[] {
    return this.#sorted().map(createToolSchema);
  }

  #sorted(): Tool[] {
    return [...this.#tools.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Adds own tools. @throws WavetrainError `bad_tool_file` when a name is taken by a different own tool */
  with(tools: Iterable<Tool>): Catalog {
    return new Catalog([...this.#tools.values(), ...tools], this.#builtinTools);
  }

  /** Replaces the built-in tool of the same name by a variant of it. An own tool stays in its place. */
  withVariant(builtin: Tool): Catalog {
    if (!this.isBuiltin(builtin.name)) return this;
    const tools = [...this.#tools.values()].map((tool) => (tool.name === builtin.name ? builtin : tool));
    return new Catalog(tools, [...this.#builtinTools, builtin]);
  }
}

/** The tools that come with the package (D22, D49). */
const BUILTIN_TOOLS: readonly Tool[] = [fail, ingestDocument, mock, runPipeline, sleep, store, transform];

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
  /** It is an own tool in place of the built-in one of that name (D58). */
  readonly replaces_builtin?: true;
}

const BUILTIN_NAMES: ReadonlySet<string> = new Set(BUILTIN_TOOLS.map(({ name }) => name));

/** Derives the metadata of a tool from its declaration (D48). */
function describeTool({ name, description, inputs, output }: Tool, isBuiltin: boolean): ToolMetadata {
  const described = Object.entries(inputs).map(
    ([input, declaration]) => [input, describeInput(input, declaration)] as const,
  );
  return {
    name,
    description,
    inputs: Object.fromEntries<InputMetadata>(described),
    output: { name: output.name, description: output.description, type: output.type },
    ...(!isBuiltin && BUILTIN_NAMES.has(name) && { replaces_builtin: true }),
  };
}

function describeInput(name: string, declaration: ToolInput): InputMetadata {
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
