import type { Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { WavetrainError } from '../../common/errors.js';
import { DEFINITION_EXTENSIONS, describeErrno, isTestFile, TEST_ENDINGS } from '../../common/files.js';

/** Folders that a search leaves out. */
const LEFT_OUT = new Set(['node_modules', 'dist']);

/** Folders and files that a search looks at. */
const MAX_ENTRIES = 100_000;

/** The files that may have the definition of tests, in the order in which they are looked for. */
export function definitionsBeside(testFile: string): string[] {
  const name = withoutEnding(testFile, TEST_ENDINGS);
  return DEFINITION_EXTENSIONS.map((ending) => `${name}${ending}`);
}

/**
 * Finds the files of tests that paths name: a file itself, the one beside a definition, and all of a folder and of those below
 * it. In the order of the paths, then of the names; each once.
 *
 * Rejects with `unreadable_file` when there is nothing at a path, or no test.
 */
export async function findTestFiles(paths: readonly string[], cwd = '.'): Promise<string[]> {
  const left = { entries: MAX_ENTRIES };
  const found: string[] = [];
  for (const path of paths) found.push(...(await findAt(path, { cwd, left })));
  return [...new Set(found)];
}

interface Search {
  readonly cwd: string;
  readonly left: { entries: number };
}

async function findAt(path: string, search: Search): Promise<string[]> {
  const { cwd } = search;
  if ((await statOf(path, cwd)).isDirectory()) {
    const found = await findBelow(path, search);
    if (found.length > 0) return found;
    throw unreadable(`there are no tests in "${path}"`);
  }
  if (isTestFile(path)) return [path];
  const beside = TEST_ENDINGS.map((ending) => `${withoutEnding(path, DEFINITION_EXTENSIONS)}${ending}`);
  for (const file of beside) if (await exists(resolve(cwd, file))) return [file];
  throw unreadable(`"${path}" has no tests: there is no ${basename(beside[0] ?? path)} in ${dirname(path)}`);
}

async function findBelow(folder: string, search: Search): Promise<string[]> {
  const { cwd, left } = search;
  const entries = await readdir(resolve(cwd, folder), { withFileTypes: true });
  left.entries -= entries.length;
  if (left.entries < 0)
    throw unreadable(
      `"${folder}" and the folders before it have more than ${MAX_ENTRIES} entries: name folders in them`,
    );
  const found: string[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = folder === '.' ? entry.name : join(folder, entry.name);
    if (entry.name.startsWith('.') || LEFT_OUT.has(entry.name)) continue;
    if (entry.isDirectory()) found.push(...(await findBelow(path, search)));
    else if (isTestFile(entry.name)) found.push(path);
  }
  return found;
}

function withoutEnding(path: string, endings: readonly string[]): string {
  const ending = endings.find((end) => path.endsWith(end)) ?? '';
  return path.slice(0, path.length - ending.length);
}

async function statOf(path: string, cwd: string): Promise<Stats> {
  try {
    return await stat(resolve(cwd, path));
  } catch (error) {
    throw unreadable(`cannot read "${path}": ${describeErrno(error)}`, error);
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

/** Finds the definition beside a file of tests; undefined when there is none. */
export async function findDefinition(testFile: string, cwd: string): Promise<string | undefined> {
  for (const file of definitionsBeside(testFile)) if (await exists(resolve(cwd, file))) return file;
  return undefined;
}

function unreadable(message: string, cause?: unknown): WavetrainError {
  return new WavetrainError('unreadable_file', message, { cause });
}
