import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../../common/errors.js';
import { isCacheFile, isCacheGroup } from './cache-file-names.js';

interface CacheFile {
  readonly path: string;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly usedAt: number;
}

/**
 * Removes the files of a cache that were not used for longest, until the others fit (D65). Files that it does not name
 * stay, and so does whatever a link leads to. Never rejects: returns what went wrong with single files and folders.
 * @param oldest milliseconds since 1970; files that nobody has used since are removed in any case
 */
export async function removeOldFiles(folder: string, oldest: number, maxBytes: number): Promise<unknown[]> {
  const failures: unknown[] = [];
  /** Does an action on a file that may be gone, because another process may remove files at the same time. */
  const attempt = async <T>(action: Promise<T>): Promise<T | undefined> => {
    try {
      return await action;
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') failures.push(error);
      return undefined;
    }
  };
  const files: CacheFile[] = [];
  for (const group of (await attempt(readdir(folder, { withFileTypes: true }))) ?? []) {
    // A link is neither a directory nor a file here, so that it is left alone.
    if (!group.isDirectory() || !isCacheGroup(group.name)) continue;
    const path = join(folder, group.name);
    for (const entry of (await attempt(readdir(path, { withFileTypes: true }))) ?? []) {
      if (!entry.isFile() || !isCacheFile(group.name, entry.name)) continue;
      const file = join(path, entry.name);
      const found = await attempt(lstat(file));
      if (found !== undefined) files.push({ path: file, size: found.size, usedAt: found.mtimeMs });
    }
  }
  files.sort((a, b) => b.usedAt - a.usedAt);
  let bytes = 0;
  for (const { path, size, usedAt } of files) {
    bytes += size;
    if (bytes > maxBytes || usedAt < oldest) await attempt(rm(path));
  }
  return failures;
}
