import { realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { errorCode, messageOf, ToolError } from '../../common/errors.js';
import { FILE_LIMIT_BYTES } from '../../common/limits.js';
import { cannotRead, readRegularFile } from './regular-file.js';
import type { FileAccess } from '../tool.js';

/**
 * Lets tools read files inside `roots` and nowhere else (D51): whatever a path spells and whatever links lie on
 * its way, the file itself must be an ordinary one below a root. Relative paths are looked up in each root in
 * turn. A root that does not exist is passed over.
 *
 * Every refusal is a ToolError that no retry will mend, and says which folders are allowed.
 *
 * @param limitBytes the largest file that is read
 */
export function fileAccess(roots: readonly string[], limitBytes: number = FILE_LIMIT_BYTES): FileAccess {
  const folders = roots.map((root) => resolve(root));
  return {
    async read(path) {
      refuseOddPath(path, folders);
      const allowed = await existing(folders);
      for (const candidate of candidatesFor(path, folders, allowed)) {
        const real = await realPathOf(candidate, path);
        if (real === undefined) continue;
        if (!allowed.some((folder) => isInside(real, folder))) throw outside(path, folders);
        return { path: real, bytes: await readRegularFile(real, path, limitBytes) };
      }
      throw cannotRead(path, `there is no such file. ${lookedIn(path, folders)}`);
    },
  };
}

function refuseOddPath(path: string, folders: readonly string[]): void {
  if (path === '') throw new ToolError('the path is empty: name a file', { retryable: false });
  if (path.includes('\0'))
    throw cannotRead(path.replaceAll('\0', '\\0'), 'a path cannot hold a NUL character');
  if (folders.length === 0) {
    throw cannotRead(path, 'tools may read no files here: name folders in SERVICE_FILE_ROOTS to allow it');
  }
  if (path.split(/[\\/]/).includes('..')) throw outside(path, folders, 'a path may not climb with ".."');
}

/** The real paths of those folders that exist. */
async function existing(folders: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const folder of folders) {
    const real = await realPathOf(folder, folder);
    if (real !== undefined) found.push(real);
  }
  return found;
}

/** Where to look, in order. Nothing outside the folders is ever touched, not even to see whether it exists. */
function candidatesFor(path: string, folders: readonly string[], allowed: readonly string[]): string[] {
  if (!isAbsolute(path)) return folders.map((folder) => join(folder, path));
  if (![...folders, ...allowed].some((folder) => isInside(path, folder))) throw outside(path, folders);
  return [path];
}

/** The path with every link followed; undefined when nothing is there. */
async function realPathOf(candidate: string, asked: string): Promise<string | undefined> {
  try {
    return await realpath(candidate);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw cannotRead(asked, `it cannot be reached (${code ?? messageOf(error)})`);
  }
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function outside(
  path: string,
  folders: readonly string[],
  why = 'it is outside the allowed folders',
): ToolError {
  return cannotRead(
    path,
    `${why}. ${list(folders)} may be read: move the file there, or add its folder to SERVICE_FILE_ROOTS`,
  );
}

function lookedIn(path: string, folders: readonly string[]): string {
  return isAbsolute(path) ? `Files in ${list(folders)} may be read` : `Looked in ${list(folders)}`;
}

function list(folders: readonly string[]): string {
  return [...new Set(folders)].join(', ');
}
