import { createHash } from 'node:crypto';
import type { Registries, Tool, ToolInput, CatalogEntry } from '../tool.js';

/** A tool as one catalog holds it, and the tool that was registered. */
const origins = new WeakMap<Tool, Tool>();

interface Branch {
  bound?: Tool;
  readonly next: WeakMap<object, Branch>;
}

/** One branch per entry, in alphabetical order: catalogs with the same entries share the bound tool. */
const roots = new WeakMap<Tool, Branch>();

/**
 * Returns the tool with the entries of a catalog that its inputs may name: they become the values that such an input
 * may have, and `run` receives them. Returns the tool itself when none of its inputs has a `registry`, and the same
 * object for the same entries: a rerun compares tools (D60).
 */
export function bindRegistries(tool: Tool, registries: Registries): Tool {
  if (!Object.values(tool.inputs).some(({ registry }) => registry !== undefined)) return tool;
  let branch = branchOf(roots, tool);
  const { functions, schemas, sources } = registries;
  for (const entries of [functions, schemas, sources])
    for (const entry of sortByName<CatalogEntry>(entries)) branch = branchOf(branch.next, entry);
  branch.bound ??= bind(tool, registries);
  return branch.bound;
}

/** Returns the tool that was registered, for one that a catalog holds. */
export function originOf(tool: Tool): Tool {
  return origins.get(tool) ?? tool;
}

function branchOf<K extends object>(branches: WeakMap<K, Branch>, key: K): Branch {
  const existing = branches.get(key);
  if (existing !== undefined) return existing;
  const branch: Branch = { next: new WeakMap() };
  branches.set(key, branch);
  return branch;
}

/** Lists the entries of a catalog in alphabetical order. */
export function sortByName<T extends { readonly name: string }>(
  entries: ReadonlyMap<string, T> = new Map(),
): T[] {
  return [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function bind(tool: Tool, registries: Registries): Tool {
  const inputs = Object.entries(tool.inputs).map(([name, declared]): [string, ToolInput] => [
    name,
    declared.registry === 'functions' || declared.registry === 'sources'
      ? { ...declared, enum: [...registries[declared.registry].keys()].sort() }
      : declared,
  ]);
  const bound: Tool = {
    ...tool,
    inputs: Object.fromEntries(inputs),
    registries,
    version: versionOf(tool, registries),
    run: (values, context) => tool.run(values, context, registries),
  };
  origins.set(bound, tool);
  return bound;
}

/** Returns another version when the tool, a function or a schema is another: the cache then forgets outputs (D65). */
function versionOf(tool: Tool, { functions, schemas, sources }: Registries): string {
  const hash = createHash('sha256');
  for (const entry of [tool, ...functions.values(), ...sources.values()]) hash.update(identify(entry));
  hash.update(JSON.stringify([...schemas.values()]));
  return hash.digest('hex');
}

function identify(entry: Pick<Tool, 'name' | 'version'> & { readonly run: unknown }): string {
  return JSON.stringify([entry.name, entry.version ?? String(entry.run)]);
}
