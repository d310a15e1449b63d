import { realpath } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { errorCode, ToolError } from '../../common/errors.js';
import { describeErrno, isPathInside } from '../../common/files.js';
import { MAX_FILE_BYTES } from '../../common/limits.js';
import { readError, readRegularFile } from './regular-file.js';
import type { FileAccess } from '../tool.js';

/**
 * Creates the access of tools to files: inside `roots` and nowhere else (D51). Whatever the path and its symbolic
 * links, the real file must be a regular one below a root. Looks up relative paths in each root in turn; skips roots
 * that do not exist.
 *
 * Reading rejects with a ToolError, not retryable, that names the allowed folders.
 *
 * @param limitBytes the size of the largest file
 */
export function fileAccess(roots: readonly string[], limitBytes: number = MAX_FILE_BYTES): FileAccess {
  const folders = roots.map((root) => resolve(root));
  return {
    async read(path) {
      assertValidPath(path, folders);
      const allowed = await resolveExisting(folders);
      for (const candidate of listCandidates(path, folders, allowed)) {
        const real = await resolveRealPath(candidate, path);
        if (real === undefined) continue;
        if (!allowed.some((folder) => isPathInside(real, folder))) throw outsideError(path, folders);
        return { path: real, bytes: await readRegularFile(real, path, limitBytes) };
      }
      throw readError(path, `there is no such file. ${describeSearch(path, folders)}`);
    },
  };
}

function assertValidPath(path: string, folders: readonly string[]): void {
  if (path === '') throw ToolError.nonRetryable('the path is empty: name a file');
  if (path.includes('\0'))
    throw readError(path.replaceAll('\0', '\\0'), 'a path cannot hold a NUL character');
  if (folders.length === 0) {
    throw readError(path, 'tools may read no files here: name folders in SERVICE_FILE_ROOTS to allow it');
  }
  if (path.split(/[\\/]/).includes('..')) throw outsideError(path, folders, 'a path may not climb with ".."');
}

/** Resolves the folders that exist to their real paths. */
async function resolveExisting(folders: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const folder of folders) {
    const real = await resolveRealPath(folder, folder);
    if (real !== undefined) found.push(real);
  }
  return found;
}

/** Lists the paths to try, in order. Never touches a path outside the folders, not even to see whether it exists. */
function listCandidates(path: string, folders: readonly string[], allowed: readonly string[]): string[] {
  if (!isAbsolute(path)) return folders.map((folder) => join(folder, path));
  if (![...folders, ...allowed].some((folder) => isPathInside(path, folder)))
    throw outsideError(path, folders);
  return [path];
}

/** Follows all symbolic links; returns undefined when the path does not exist. */
async function resolveRealPath(candidate: string, displayPath: string): Promise<string | undefined> {
  try {
    return await realpath(candidate);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw readError(displayPath, describeErrno(error));
  }
}

function outsideError(
  path: string,
  folders: readonly string[],
  reason = 'it is outside the allowed folders',
): ToolError {
  return readError(
    path,
    `${reason}. ${list(folders)} may be read: move the file there, or add its folder to SERVICE_FILE_ROOTS`,
  );
}

function describeSearch(path: string, folders: readonly string[]): string {
  return isAbsolute(path) ? `Files in ${list(folders)} may be read` : `Looked in ${list(folders)}`;
}

function list(folders: readonly string[]): string {
  return [...new Set(folders)].join(', ');
}
