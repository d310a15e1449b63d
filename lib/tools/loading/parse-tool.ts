import { errorMessage } from '../../common/errors.js';
import { describeKind, isObject } from '../../common/json/json.js';
import { defineFunction } from '../builtin/compute/function.js';
import { sourceOf } from '../builtin/web/fetch-data/source.js';
import { DeclarationError } from '../inputs/check-declaration.js';
import { defineSchema } from '../schemas/schema.js';
import {
  type CatalogEntry,
  type InputDeclarations,
  defineTool,
  type RegisteredSchema,
  type Tool,
  type ToolDeclaration,
} from '../tool.js';

const parsed = new WeakMap<object, CatalogEntry>();

/**
 * Accepts a tool by its shape (name, inputs, run), since it may come from another copy of this package or be a plain
 * object; a function or a schema by its `kind`. The same value always returns the same entry.
 *
 * @throws Error that describes the first invalid part
 */
export function parseTool(value: unknown, label: string): CatalogEntry {
  if (!isObject(value)) throw new Error(`${label} is ${describeKind(value)}, not a tool`);
  const existing = parsed.get(value);
  if (existing !== undefined) return existing;
  const entry = value['kind'] === 'schema' ? parseSchema(value, label) : defineParsed(value, label);
  parsed.set(value, entry);
  return entry;
}

function parseSchema(
  { name, description, fields }: Record<string, unknown>,
  label: string,
): RegisteredSchema {
  if (typeof name !== 'string') throw new Error(`${label} is not a schema: it has no name`);
  if (!Array.isArray(fields))
    throw new Error(`${label} ("${name}") is not a schema: it has no list "fields"`);
  try {
    return defineSchema({ name, description: typeof description === 'string' ? description : '', fields });
  } catch (error) {
    throw new Error(`${label} is not a schema: ${errorMessage(error)}`, { cause: error });
  }
}

type Declaration = ToolDeclaration<InputDeclarations> & Pick<Tool, 'run'>;

/** Checks a declaration, and makes a tool, a function or a source. */
type Define = (declaration: Declaration) => Tool;

function defineParsed(value: Record<string, unknown>, label: string): Tool {
  const { kind, name } = value;
  const define: Define = kind === 'function' ? defineFunction : kind === 'source' ? sourceOf : defineTool;
  const what = kind === 'function' || kind === 'source' ? kind : 'tool';
  if (typeof name !== 'string') throw new Error(`${label} is not a ${what}: it has no name`);
  const invalid = (reason: string): Error => new Error(`${label} ("${name}") is not a ${what}: ${reason}`);
  if (typeof value['run'] !== 'function') throw invalid('it has no function "run"');
  // The version is the text of the author's function, which the function below hides.
  const { run, version = String(run), openInputs, ...declared } = value as unknown as Declaration;
  try {
    return define({
      ...declared,
      openInputs: openInputs === true,
      version,
      run: (...args): unknown => Reflect.apply(run, value, args),
    });
  } catch (error) {
    throw invalid(error instanceof DeclarationError ? error.problem : errorMessage(error));
  }
}
