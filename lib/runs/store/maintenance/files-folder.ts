import { constants, type Dirent } from 'node:fs';
import { copyFile, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../../common/errors.js';

/** The regular files of a folder and of those below it. */
export interface FolderSize {
  readonly files: number;
  readonly files_bytes: number;
}

/** Visits the regular files of a folder and of those below it; follows no links. Does nothing when it is missing. */
async function visitFiles(
  folder: string,
  onFolder: (relative: string) => Promise<unknown>,
  onFile: (relative: string) => Promise<unknown>,
  relative = '',
): Promise<void> {
  let entries: readonly Dirent[];
  try {
    entries = await readdir(join(folder, relative), { withFileTypes: true });
  } catch (error) {
    // The files of a run that was deleted meanwhile.
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  await onFolder(relative);
  for (const entry of entries) {
    const path = join(relative, entry.name);
    if (entry.isDirectory()) await visitFiles(folder, onFolder, onFile, path);
    else if (entry.isFile()) await onFile(path);
  }
}

/** Copies the regular files of a folder and of those below it, only for the user of this process. */
export async function copyFolder(from: string, to: string): Promise<FolderSize> {
  let files = 0;
  let bytes = 0;
  await visitFiles(
    from,
    (path) => mkdir(join(to, path), { mode: 0o700 }),
    async (path) => {
      const copied = await copyIfThere(join(from, path), join(to, path));
      if (copied === undefined) return;
      files++;
      bytes += copied;
    },
  );
  return { files, files_bytes: bytes };
}

/** Resolves with the length of the copy; with undefined when the file is missing. */
export async function copyIfThere(from: string, to: string): Promise<number | undefined> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    return (await stat(to)).size;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Measures the regular files of a folder and of those below it. */
export async function measureFolder(folder: string): Promise<FolderSize> {
  let files = 0;
  let bytes = 0;
  const count = async (path: string): Promise<void> => {
    const found = await stat(join(folder, path)).catch(() => undefined);
    if (found === undefined) return;
    files++;
    bytes += found.size;
  };
  await visitFiles(folder, async () => undefined, count);
  return { files, files_bytes: bytes };
}
