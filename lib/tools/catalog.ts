import { WavetrainError } from '../common/errors.js';
import { BUILTIN_TOOLS } from './builtin/index.js';
import { metadataOf, type ToolMetadata } from './metadata.js';
import type { Tool } from './tool.js';

export type { ToolMetadata } from './metadata.js';

/** The tools that a pipeline may call, by name. It never changes: {@link Catalog.with} makes another one. */
export class Catalog {
  readonly #tools = new Map<string, Tool>();

  /**
   * The same tool may be given twice.
   *
   * @throws WavetrainError `bad_tool_file` when two different tools have one name.
   */
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

  /** In alphabetical order. */
  names(): string[] {
    return [...this.#tools.keys()].sort();
  }

  /** In alphabetical order. */
  metadata(): ToolMetadata[] {
    return [...this.#tools.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(metadataOf);
  }

  /** This catalog and more tools, under the rules of the constructor. */
  with(tools: Iterable<Tool>): Catalog {
    return new Catalog([...this.#tools.values(), ...tools]);
  }

  /** This catalog with another tool in the place of the one of its name. */
  replacing(tool: Tool): Catalog {
    return new Catalog([...this.#tools.values()].map((one) => (one.name === tool.name ? tool : one)));
  }
}

/** The tools that are always there (D22, D49). */
export function builtinCatalog(): Catalog {
  return new Catalog(BUILTIN_TOOLS);
}
