import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { errorCode, ToolError } from '../../common/errors.js';
import { describeErrno, isPathInside } from '../../common/files.js';
import { MAX_FILE_BYTES } from '../../common/limits.js';
import { readError, readRegularFile } from './regular-file.js';
import type { FileAccess } from '../tool.js';

/** Names the allowed folders in errors. */
type DescribeFolders = (folders: readonly string[]) => string;

/**
 * Creates the access of tools to files: inside `roots` and nowhere else (D51). Whatever the path and its symbolic
 * links, the real file must be a regular one below a root. Looks up relative paths in each root in turn; skips roots
 * that do not exist.
 *
 * Reading rejects with a ToolError, not retryable, that names the allowed folders and the path as it was given.
 *
 * @param limitBytes the size of the largest file
 */
export function fileAccess(
  roots: readonly string[],
  limitBytes: number = MAX_FILE_BYTES,
  describe: DescribeFolders = (folders) => [...new Set(folders)].join(', '),
): FileAccess {
  const folders = roots.map((root) => resolve(root));
  const find = async (path: string, mayCreate: boolean): Promise<string> => {
    assertValidPath(path, folders, describe);
    const allowed = await resolveExisting(folders, describe);
    const candidates = listCandidates(path, folders, allowed, describe);
    const isAllowed = (real: string): boolean => allowed.some((folder) => isPathInside(real, folder));
    for (const candidate of candidates) {
      const real = await resolveRealPath(candidate, path);
      if (real === undefined) continue;
      if (!isAllowed(real)) throw outsideError(path, describe(folders));
      return real;
    }
    for (const candidate of mayCreate ? candidates : []) {
      const real = await resolveNewPath(candidate, path);
      if (real !== undefined && isAllowed(real)) return real;
    }
    const search = isAbsolute(path)
      ? `Files in ${describe(folders)} may be read`
      : `Looked in ${describe(folders)}`;
    throw readError(path, `there is no such file. ${search}`);
  };
  return {
    async read(path) {
      const real = await find(path, false);
      return { path: real, bytes: await readRegularFile(real, path, limitBytes) };
    },
    async locate(path, mayCreate) {
      const real = await find(path, mayCreate);
      await assertRegular(real, path);
      return real;
    },
  };
}

/** The path of a file that is not there yet, in a folder that is; undefined without that folder, and where a link stands. */
async function resolveNewPath(candidate: string, displayPath: string): Promise<string | undefined> {
  const folder = await resolveRealPath(dirname(candidate), displayPath);
  if (folder === undefined) return undefined;
  const path = join(folder, basename(candidate));
  // A link that leads nowhere would be followed when the file is created.
  return (await lstat(path).catch(() => undefined)) === undefined ? path : undefined;
}

/** Refuses folders, and pipes, which would be waited for. */
async function assertRegular(real: string, path: string): Promise<void> {
  const stats = await stat(real).catch(() => undefined);
  if (stats !== undefined && !stats.isFile()) throw readError(path, 'it is not a regular file');
}

/** The access of a server's tools to files. Its errors do not show remote callers where the folders are. */
export function serverFileAccess(roots: readonly string[]): FileAccess {
  return fileAccess(roots, MAX_FILE_BYTES, () => 'the folders in SERVICE_FILE_ROOTS');
}

function assertValidPath(path: string, folders: readonly string[], describe: DescribeFolders): void {
  if (path === '') throw ToolError.nonRetryable('the path is empty: name a file');
  if (path.includes('\0'))
    throw readError(path.replaceAll('\0', '\\0'), 'a path cannot hold a NUL character');
  if (folders.length === 0)
    throw readError(path, 'tools may read no files here: name folders in SERVICE_FILE_ROOTS to allow it');
  if (path.split(/[\\/]/).includes('..'))
    throw outsideError(path, describe(folders), 'a path may not climb with ".."');
}

async function resolveExisting(folders: readonly string[], describe: DescribeFolders): Promise<string[]> {
  const found: string[] = [];
  for (const folder of folders) {
    const real = await resolveRealPath(folder, describe([folder]));
    if (real !== undefined) found.push(real);
  }
  return found;
}

/** Lists the paths to try, in order. Never touches a path outside the folders, not even to see whether it exists. */
function listCandidates(
  path: string,
  folders: readonly string[],
  allowed: readonly string[],
  describe: DescribeFolders,
): string[] {
  if (!isAbsolute(path)) return folders.map((folder) => join(folder, path));
  if ([...folders, ...allowed].some((folder) => isPathInside(path, folder))) return [path];
  throw outsideError(path, describe(folders));
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
  folders: string,
  reason = 'it is outside the allowed folders',
): ToolError {
  const advice = 'move the file there, or add its folder to SERVICE_FILE_ROOTS';
  return readError(path, `${reason}. Files in ${folders} may be read: ${advice}`);
}
