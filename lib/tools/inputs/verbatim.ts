import type { Tool } from '../tool.js';

const NONE: ReadonlySet<string> = new Set();

const known = new WeakMap<Tool, ReadonlySet<string>>();

/** The inputs of a tool whose lists and objects are taken as they are written. */
export function verbatimInputs(tool: Tool | undefined): ReadonlySet<string> {
  if (tool === undefined) return NONE;
  const before = known.get(tool);
  if (before !== undefined) return before;
  const names = new Set(Object.keys(tool.inputs).filter((name) => tool.inputs[name]?.verbatim === true));
  known.set(tool, names);
  return names;
}
