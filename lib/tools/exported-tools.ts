import { isObject, kindOf } from '../common/json.js';
import { asTool } from './loading/foreign-tool.js';
import type { Tool } from './tool.js';

/**
 * The tools that a module exports: by default, or without a default export by name.
 *
 * @throws Error that names the export and what is wrong with it
 */
export function toolsOf(exported: object): Tool[] {
  const all = Object.entries(exported).filter(([name]) => name !== '__esModule' && name !== 'module.exports');
  const byDefault = all.filter(([name]) => name === 'default');
  const found = new Set(
    (byDefault.length > 0 ? byDefault : all).flatMap(([name, value]) => toolsIn(value, name)),
  );
  if (found.size === 0) throw new Error('it exports no tool. Write: export default defineTool({...})');
  return [...found];
}

function toolsIn(value: unknown, name: string): Tool[] {
  const label = name === 'default' ? 'its default export' : `its export "${name}"`;
  const list = isObject(value) && Array.isArray(value['tools']) && !('run' in value) ? value['tools'] : value;
  if (Array.isArray(list))
    return list.map((entry: unknown, i) => asTool(entry, `${label}, number ${i + 1},`));
  if (!isObject(value)) throw new Error(`${label} is ${nameOf(value)}, and no tool`);
  return [asTool(value, label)];
}

function nameOf(value: unknown): string {
  return value === undefined || value === null ? String(value) : `a ${kindOf(value)}`;
}
