import { constants } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, realpath, rename, rm, statfs } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { errorCode, ToolError } from '../../common/errors.js';
import { describeErrno, isPathInside, makeFolders } from '../../common/files.js';
import { formatMebibytes } from '../../common/text.js';
import type { PlacedFile } from './access.js';
import type { AllowedFolders } from './allowed-folders.js';
import { assertFileName } from './file-name.js';
import { TRANSFER_LIMITS } from './transfer-limits.js';

/** Where tools may write files. */
export interface WritableFolders {
  /** A relative path begins in the first. They are created when something is written. */
  readonly folders: readonly string[];
  /** Where a relative path may begin as well, when it leads into one of the folders: the working directory. */
  readonly base?: string | undefined;
  /** Each tenant has a folder of its own in each. */
  readonly byTenant?: boolean | undefined;
}

export interface WriteOptions {
  readonly isNew: boolean;
  /** Folders whose files readers find before those that are written; undefined gives real paths, which lead to one file. */
  readonly hiddenFrom: AllowedFolders | undefined;
}

/** Names by which SQLite and DuckDB find the changes to recover from, beside their files. */
const OF_DATABASES = /(?:-journal|-wal|-shm|\.wal)$/i;

/**
 * Writes a file into one of the writable folders. It appears under its name when all of it is there, in place of a file of that name;
 * folders above it are created. No part of the path may be a link, begin with a dot, or be a name that some system does not allow.
 * Resolves with undefined when the file should be new, and is not. Rejects with a ToolError.
 */
export async function writeInside(
  writable: WritableFolders | undefined,
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  { isNew, hiddenFrom }: WriteOptions,
): Promise<PlacedFile | undefined> {
  const { root, parts } = findPlace(writable, path);
  if (OF_DATABASES.test(path))
    throw writeError(path, 'a database would take it for its journal: choose another name');
  if ((await hiddenFrom?.has(parts.join('/'))) === true) {
    throw writeError(path, 'a folder that is only for reading has a file of this name: choose another one');
  }
  try {
    const folder = await makeOwnFolders(root, parts.slice(0, -1), path);
    const target = join(folder, parts.at(-1) ?? '');
    if (await assertReplaceable(target, path, isNew)) return undefined;
    const size = await writeUnfinished(folder, target, pieces, { path, isNew });
    if (size === undefined) return undefined;
    return { path: hiddenFrom === undefined ? target : parts.join('/'), size };
  } catch (error) {
    if (error instanceof ToolError || errorCode(error) === undefined) throw error;
    throw writeError(path, describeErrno(error), TEMPORARY.has(errorCode(error) ?? ''));
  }
}

/** Finds the folder that a path leads into, and the names below it. @throws ToolError, not retryable */
function findPlace(
  writable: WritableFolders | undefined,
  path: string,
): { readonly root: string; readonly parts: readonly string[] } {
  const folders = (writable?.folders ?? []).map((folder) => resolve(folder));
  const [first] = folders;
  if (first === undefined)
    throw writeError(path, 'tools may write no files here: name folders in SERVICE_WRITE_ROOTS to allow it');
  if (path.length > TRANSFER_LIMITS.pathLength)
    throw ToolError.nonRetryable(`the path has more than ${TRANSFER_LIMITS.pathLength} characters`);
  if (path.split(/[\\/]/).includes('..')) throw writeError(path, 'a path may not climb with ".."');
  const { base } = writable ?? {};
  const candidates = isAbsolute(path)
    ? [path]
    : [...(base === undefined ? [] : [join(base, path)]), join(first, path)];
  for (const candidate of candidates) {
    const root = folders.find((folder) => isPathInside(candidate, folder));
    if (root === undefined) continue;
    const parts = relative(root, resolve(candidate)).split(sep);
    for (const part of parts) assertFileName(part);
    return { root, parts };
  }
  throw writeError(path, 'it is outside the folders in which tools may write: see SERVICE_WRITE_ROOTS');
}

/** Creates the folders down to a file, and returns the real path of the last. Rejects when one of them is a link, or no folder. */
async function makeOwnFolders(root: string, names: readonly string[], path: string): Promise<string> {
  await makeFolders(root);
  let folder = await realpath(root);
  for (const name of names) {
    folder = join(folder, name);
    await mkdir(folder).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    if (!(await lstat(folder)).isDirectory()) throw writeError(path, `"${name}" in it is no folder`);
  }
  return folder;
}

/** Resolves with true when a file is there that should be new. Rejects for what is no file. */
async function assertReplaceable(target: string, path: string, isNew: boolean): Promise<boolean> {
  const found = await lstat(target).catch(() => undefined);
  if (found === undefined) return false;
  if (found.isDirectory()) throw writeError(path, 'it is a folder');
  if (!found.isFile()) throw writeError(path, 'it is a link, a device, a pipe or a socket');
  return isNew;
}

/** Writes beside the file, and gives that its name in the end. */
async function writeUnfinished(
  folder: string,
  target: string,
  pieces: AsyncIterable<Uint8Array>,
  { path, isNew }: { readonly path: string; readonly isNew: boolean },
): Promise<number | undefined> {
  const { unfinished, handle } = await createUnfinished(folder);
  try {
    const size = await writeAndClose(handle, pieces, path, folder);
    // Somebody on this machine may have put a link in place of a folder.
    if ((await realpath(folder)) !== folder)
      throw writeError(path, 'its folder was replaced while it was written');
    if (!isNew) await rename(unfinished, target);
    else if (!(await linkNew(unfinished, target))) return undefined;
    return size;
  } finally {
    await rm(unfinished, { force: true });
  }
}

const UNFINISHED = /^\.wavetrain-\d+$/;

/** Returns true for the name of a file that is being written. */
export function isUnfinished(name: string): boolean {
  return UNFINISHED.test(name);
}

let created = 0;

async function createUnfinished(
  folder: string,
): Promise<{ readonly unfinished: string; readonly handle: FileHandle }> {
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants;
  for (;;) {
    // Another process may write one of the same name, and one that was killed may have left it.
    const unfinished = join(folder, `.wavetrain-${++created}`);
    try {
      return { unfinished, handle: await open(unfinished, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW) };
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

async function writeAndClose(
  handle: FileHandle,
  pieces: AsyncIterable<Uint8Array>,
  path: string,
  folder: string,
): Promise<number> {
  try {
    return await writePieces(handle, pieces, path, folder);
  } finally {
    await handle.close();
  }
}

async function writePieces(
  handle: FileHandle,
  pieces: AsyncIterable<Uint8Array>,
  path: string,
  folder: string,
): Promise<number> {
  let size = 0;
  let checkedAt = -FREE_CHECK_BYTES;
  for await (const piece of pieces) {
    if (size - checkedAt >= FREE_CHECK_BYTES) {
      await assertFree(folder, path);
      checkedAt = size;
    }
    size += piece.length;
    if (size > TRANSFER_LIMITS.fileBytes)
      throw writeError(
        path,
        `it would have more than ${formatMebibytes(TRANSFER_LIMITS.fileBytes)}, the maximum`,
      );
    await handle.writeFile(piece);
  }
  await handle.sync();
  return size;
}

/** So often is looked at how much room the disk has. */
const FREE_CHECK_BYTES = 64 * 2 ** 20;

/** So much of a disk stays free, because others need it: the runs of a server may be on it. */
const FREE_BYTES = 2 ** 30;
const FREE_SHARE = 0.05;

async function assertFree(folder: string, path: string): Promise<void> {
  const { bavail, blocks, bsize } = await statfs(folder);
  if (bavail * bsize > Math.min(FREE_BYTES, FREE_SHARE * blocks * bsize) + FREE_CHECK_BYTES) return;
  throw writeError(path, 'the disk is nearly full, and tools leave some of it free', true);
}

/** Gives a file its name unless another one has it. */
async function linkNew(unfinished: string, target: string): Promise<boolean> {
  try {
    await link(unfinished, target);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

const TEMPORARY = new Set('ENOSPC EDQUOT EMFILE ENFILE EAGAIN EBUSY EINTR EIO'.split(' '));

function writeError(path: string, reason: string, retryable = false): ToolError {
  return new ToolError(`cannot write "${path.replaceAll('\0', '\\0')}": ${reason}`, { retryable });
}
