import { existsSync, statSync } from 'node:fs';
import { extname, isAbsolute, join, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { errorCode, errorMessage, WavetrainError } from '../../common/errors.js';
import { isObject } from '../../common/json/json.js';
import type { CatalogEntry } from '../tool.js';
import { parseTool } from './parse-tool.js';

/** The package name that a tool file may import although it is not installed in the file's folder. */
const PACKAGE_NAME = 'wavetrain';

const TYPESCRIPT = /^\.[cm]?ts$/;
const SCRIPT = /^\.[cm]?[jt]s$/;

export interface ToolLoadOptions {
  /** The file that `import … from 'wavetrain'` resolves to; without it the package must be installed. */
  readonly entry?: string;
  /** Imports a module by its URL; default `import()`. */
  readonly importModule?: ImportModule;
  /** Reads files again that were loaded before. Default: they are loaded once. */
  readonly isFresh?: boolean;
}

export type ImportModule = (url: string) => Promise<object>;

const nativeImport: ImportModule = (url) => import(url);

/**
 * Loads tools from a file (`./my-tools.ts`, also `.mts`, `.js`, `.mjs`) or an installed package (D48). Reads the
 * default export, or without one every named export; each may be a tool, a function or a schema, a list of them or `{tools: [...]}`.
 *
 * @param cwd the base of relative paths and of the search for packages
 * @throws WavetrainError `bad_tool_file` with the file and the reason
 */
export async function loadTools(
  specifier: string,
  cwd: string,
  options: ToolLoadOptions = {},
): Promise<CatalogEntry[]> {
  try {
    const isFresh = options.isFresh === true && isFilePath(specifier);
    return parseExports(await importFile(await resolveFile(specifier, cwd), { ...options, isFresh }));
  } catch (cause) {
    const reason = errorMessage(cause).replaceAll(/\s+/g, ' ').trim();
    throw new WavetrainError('bad_tool_file', `cannot load tools from "${specifier}": ${reason}`, { cause });
  }
}

async function resolveFile(specifier: string, cwd: string): Promise<string> {
  const path = resolve(cwd, specifier);
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (isFolder && isFilePath(specifier)) throw new Error(`${path} is a folder: name a file in it`);
  if (existsSync(path) && isFilePath(specifier)) return path;
  if (existsSync(path) && !isFolder)
    throw new Error(`${path} is not a tool file: its name must end in .ts, .mts, .js or .mjs`);
  if (specifier.startsWith('.') || isAbsolute(specifier)) throw new Error(`there is no file ${path}`);
  return await resolvePackage(specifier, cwd);
}

/** `tools.ts` is a file in the working directory; `tools` is a package. */
function isFilePath(specifier: string): boolean {
  return specifier.startsWith('.') || isAbsolute(specifier) || SCRIPT.test(extname(specifier));
}

async function resolvePackage(name: string, cwd: string): Promise<string> {
  const { createJiti } = await import('jiti');
  const found = createJiti(join(cwd, 'tools.js'), { fsCache: false }).esmResolve(name, { try: true });
  if (found === undefined)
    throw new Error(`there is no such file in ${cwd}, and no such package is installed`);
  return fileURLToPath(found);
}

async function importFile(file: string, options: ToolLoadOptions): Promise<object> {
  if (TYPESCRIPT.test(extname(file))) return await importWithJiti(file, options);
  try {
    return await (options.importModule ?? nativeImport)(urlOf(file, options));
  } catch (error) {
    if (options.entry !== undefined && isPackageMissing(error)) return await importWithJiti(file, options);
    throw error;
  }
}

let reloads = 0;

/** Node.js keeps what it has imported from a URL for as long as the process lives: a file is read again under another one. */
function urlOf(file: string, { isFresh }: ToolLoadOptions): string {
  const { href } = pathToFileURL(file);
  return isFresh ? `${href}?reload=${++reloads}` : href;
}

function isPackageMissing(error: unknown): boolean {
  return errorCode(error) === 'ERR_MODULE_NOT_FOUND' && errorMessage(error).includes(`'${PACKAGE_NAME}'`);
}

const PACKAGES = `${sep}node_modules${sep}`;

/** The tool files that were compiled, and the modules that they import: those that a reload compiles again. */
const compiledModules = new Set<string>();

/**
 * Lists the files of which tools consist, as far as they are known: those that are named, and the TypeScript modules that they
 * import. Packages are not among them.
 */
export function toolFiles(specifiers: readonly string[], cwd: string): string[] {
  return [...specifiers.filter(isFilePath).map((specifier) => resolve(cwd, specifier)), ...compiledModules];
}

/** Compiles TypeScript, which Node.js does not load by itself, and resolves `wavetrain` to `entry`. */
async function importWithJiti(
  file: string,
  { entry, importModule, isFresh }: ToolLoadOptions,
): Promise<object> {
  const { createJiti } = await import('jiti');
  // The module that is running, so that a ToolError of the tool file is an instance of the same class.
  const virtualModules =
    entry === undefined
      ? {}
      : { [PACKAGE_NAME]: await (importModule ?? nativeImport)(pathToFileURL(entry).href) };
  // jiti's cache would be in the system's temporary folder, which other users can write to.
  const jiti = createJiti(file, { fsCache: false, interopDefault: false, virtualModules });
  if (isFresh) for (const module of compiledModules) delete jiti.cache[module];
  const others = new Set(Object.keys(jiti.cache));
  try {
    return await jiti.import<object>(file);
  } finally {
    for (const module of Object.keys(jiti.cache)) {
      if (!others.has(module) && !module.includes(PACKAGES)) compiledModules.add(module);
    }
  }
}

/** @throws Error that names the invalid export */
function parseExports(exported: object): CatalogEntry[] {
  const all = Object.entries(exported).filter(([name]) => name !== '__esModule' && name !== 'module.exports');
  const byDefault = all.filter(([name]) => name === 'default');
  const found = new Set(
    (byDefault.length > 0 ? byDefault : all).flatMap(([name, value]) => parseExport(value, name)),
  );
  if (found.size === 0) throw new Error('it exports no tool; write: export default defineTool({...})');
  return [...found];
}

function parseExport(value: unknown, name: string): CatalogEntry[] {
  const label = name === 'default' ? 'its default export' : `its export "${name}"`;
  const list = isObject(value) && Array.isArray(value['tools']) && !('run' in value) ? value['tools'] : value;
  if (Array.isArray(list))
    return list.map((entry: unknown, i) => parseTool(entry, `${label}, number ${i + 1},`));
  return [parseTool(value, label)];
}
