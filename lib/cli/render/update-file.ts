import {
  access,
  constants,
  type FileHandle,
  open,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errorCode, WavetrainError } from '../../common/errors.js';

/**
 * Changes a file so that it is whole at any moment, even if the disk is full or the process is killed: writes the new
 * text beside it, waits until it is on the disk, and renames it. Creates a missing file. Follows symbolic links, and
 * keeps the mode, and the owner if the system allows it.
 *
 * `FILE.new` exists in the meantime, so that two processes do not change the file at once.
 *
 * @param change returns the new text for the old content, which is empty for a missing file
 * @param mode of a new file
 * @throws what `change` throws, an error of the system, or WavetrainError `bad_usage`; the file is unchanged then
 */
export async function updateFile(
  path: string,
  change: (content: Uint8Array) => string,
  mode = 0o666,
): Promise<void> {
  const target = await followLinks(path);
  await assertRegularFile(target);
  const beside = `${target}.new`;
  const file = await openNew(beside, mode);
  try {
    await writeWhole(file, target, change);
    await rename(beside, target);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  await syncFolder(dirname(target));
}

/** Rejects with `bad_usage`, or an error of the system, when a file cannot be changed: before its new text is made. */
export async function assertUpdatable(path: string): Promise<void> {
  const target = await followLinks(path).catch(() => path);
  const folder = dirname(target);
  if ((await stat(folder).catch(() => undefined))?.isDirectory() !== true)
    throw new WavetrainError('bad_usage', `there is no folder ${folder}`);
  await assertRegularFile(target);
  await access(folder, constants.W_OK);
}

/** Returns the path that a file has, or will have, without links. */
async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    const link = await readlink(path).catch(() => undefined);
    return link === undefined ? path : followLinks(resolve(dirname(path), link));
  }
}

async function assertRegularFile(path: string): Promise<void> {
  const existing = await ifExists(stat(path));
  if (existing === undefined || existing.isFile()) return;
  throw new WavetrainError(
    'bad_usage',
    existing.isDirectory() ? 'it is a folder' : 'it is not a regular file',
  );
}

async function openNew(path: string, mode: number): Promise<FileHandle> {
  try {
    return await open(path, 'wx', mode);
  } catch (cause) {
    if (errorCode(cause) !== 'EEXIST') throw cause;
    const message = `${path} exists: another process is changing the file, or was stopped while it did: if none is running, remove it`;
    throw new WavetrainError('bad_usage', message, { cause });
  }
}

/** Reads the old content after the new file exists, so that no change of another process is lost. */
async function writeWhole(
  file: FileHandle,
  target: string,
  change: (content: Uint8Array) => string,
): Promise<void> {
  try {
    const existing = await ifExists(stat(target));
    if (existing !== undefined) {
      await file.chmod(existing.mode & 0o7777);
      // Only root may give a file away; the new file belongs to the caller then.
      await file.chown(existing.uid, existing.gid).catch(() => undefined);
    }
    await file.writeFile(change((await ifExists(readFile(target))) ?? new Uint8Array()));
    await file.sync();
  } finally {
    await file.close();
  }
}

async function ifExists<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Makes the rename survive a power failure. Some systems cannot: then the file is whole, but perhaps the old one. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}
