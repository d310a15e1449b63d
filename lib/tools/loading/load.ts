import { existsSync, statSync } from 'node:fs';
import { extname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { errorCode, messageOf, WavetrainError } from '../../common/errors.js';
import { isObject, kindOf } from '../../common/json.js';
import type { Tool } from '../tool.js';
import { asTool } from './foreign-tool.js';

/** What a tool file may import as `wavetrain`, though no such package is installed where it lies. */
const OWN_NAME = 'wavetrain';

const TYPESCRIPT = new Set(['.ts', '.mts', '.cts']);
const JAVASCRIPT = new Set(['.js', '.mjs', '.cjs']);

export interface LoadOptions {
  /** The file that answers to `import … from 'wavetrain'`; without it the package must be installed. */
  readonly entry?: string;
  /** Imports a module by its URL; `import()` where that is at hand. */
  readonly importModule?: ImportModule;
}

export type ImportModule = (url: string) => Promise<object>;

const nativeImport: ImportModule = (url) => import(url);

/**
 * Loads tools from a file (`./my-tools.ts`, also `.mts`, `.js`, `.mjs`) or an installed package (D48). Looks at the
 * default export, or without one at every named export; each may be a tool, a list of tools, or `{tools: [...]}`.
 *
 * @param cwd the folder that relative paths, and the search for packages, start from
 * @throws WavetrainError `bad_tool_file` that names the file and what is wrong with it
 */
export async function loadTools(specifier: string, cwd: string, options: LoadOptions = {}): Promise<Tool[]> {
  try {
    const file = await fileOf(specifier, cwd);
    return toolsOf(await importFile(file, options));
  } catch (error) {
    const why = messageOf(error).replaceAll(/\s+/g, ' ').trim();
    throw new WavetrainError('bad_tool_file', `cannot load tools from "${specifier}": ${why}`, {
      cause: error,
    });
  }
}

async function fileOf(specifier: string, cwd: string): Promise<string> {
  const path = resolve(cwd, specifier);
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (isFolder && isFilePath(specifier)) throw new Error(`${path} is a folder: name a file in it`);
  if (existsSync(path) && isFilePath(specifier)) return path;
  if (existsSync(path) && !isFolder)
    throw new Error(`${path} is no file of tools: those end in .ts, .mts, .js or .mjs`);
  if (specifier.startsWith('.') || isAbsolute(specifier)) throw new Error(`there is no file ${path}`);
  return await packageFile(specifier, cwd);
}

/** `tools.ts` may be a file beside us; `tools` is the name of a package. */
function isFilePath(specifier: string): boolean {
  const extension = extname(specifier);
  return (
    specifier.startsWith('.') ||
    isAbsolute(specifier) ||
    TYPESCRIPT.has(extension) ||
    JAVASCRIPT.has(extension)
  );
}

async function packageFile(name: string, cwd: string): Promise<string> {
  const { createJiti } = await import('jiti');
  const found = createJiti(join(cwd, 'tools.js'), { fsCache: false }).esmResolve(name, { try: true });
  if (found === undefined)
    throw new Error(`there is no such file in ${cwd}, and no such package is installed`);
  return fileURLToPath(found);
}

async function importFile(file: string, options: LoadOptions): Promise<object> {
  if (TYPESCRIPT.has(extname(file))) return await importTranslated(file, options);
  try {
    return await (options.importModule ?? nativeImport)(pathToFileURL(file).href);
  } catch (error) {
    if (options.entry !== undefined && lacksOwnName(error)) return await importTranslated(file, options);
    throw error;
  }
}

function lacksOwnName(error: unknown): boolean {
  return errorCode(error) === 'ERR_MODULE_NOT_FOUND' && messageOf(error).includes(`'${OWN_NAME}'`);
}

/** Node reads no TypeScript by itself, and finds our own package only where it is installed. */
async function importTranslated(file: string, { entry, importModule }: LoadOptions): Promise<object> {
  const { createJiti } = await import('jiti');
  // The very module that is running, so that a ToolError thrown there is a ToolError here.
  const virtualModules =
    entry === undefined
      ? {}
      : { [OWN_NAME]: await (importModule ?? nativeImport)(pathToFileURL(entry).href) };
  // Translations are not kept: the usual place is a folder that others can write to.
  const jiti = createJiti(file, { fsCache: false, interopDefault: false, virtualModules });
  return await jiti.import<object>(file);
}

/**
 * The tools that a module exports: by default, or without a default export by name.
 *
 * @throws Error that names the export and what is wrong with it
 */
function toolsOf(exported: object): Tool[] {
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
