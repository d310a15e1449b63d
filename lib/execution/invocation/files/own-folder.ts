import { lstat, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode, ToolError } from '../../../common/errors.js';

/**
 * Creates a folder that only its owner may read, unless it exists.
 *
 * @throws ToolError, not retryable, when something else is there, such as a link
 */
export async function makeOwnFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    if (await isOwnFolder(path)) return;
    throw ToolError.nonRetryable(
      `${path} is not a folder of this process: remove it, or set another SERVICE_ARTIFACTS`,
    );
  }
}

/**
 * Resolves with true when the folder of a store, and one above a path in it, are still its own: a cleaner of temporary
 * files may have removed them, and others know their names then. True for a path outside: the folder of the user may be
 * a link.
 *
 * @param path of the folder of the store, of a folder in it, or of a file in one of those
 */
export async function isInOwnFolders(store: string, path: string): Promise<boolean> {
  if (path === store) return isOwnFolder(path);
  const folder = dirname(path);
  if (folder !== store && dirname(folder) !== store) return true;
  return (await isOwnFolder(store)) && (folder === store || (await isOwnFolder(folder)));
}

/** Resolves with true for a folder that only the user of this process may change: no link, and of nobody else. */
async function isOwnFolder(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  // Undefined on Windows, where folders for temporary files belong to their users.
  const uid = process.geteuid?.();
  if (found?.isDirectory() !== true) return false;
  return uid === undefined || (found.uid === uid && (found.mode & 0o077) === 0);
}
