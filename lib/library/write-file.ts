import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, link, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, ToolError, WavetrainError } from '../common/errors.js';
import { describeErrno, isPathInside, makeFolders } from '../common/files.js';
import { readRegularFile } from '../tools/files/regular-file.js';

/** A file whose content is not what a request takes it for. */
export class FileChangedError extends WavetrainError {
  override readonly name = 'FileChangedError';
  /** Of the file as it is now; null when it cannot be read or is not there, and for a new file whose name or id is taken. */
  readonly version: string | null;

  constructor(message: string, version: string | null) {
    super('file_changed', message);
    this.version = version;
  }
}

export interface FileContent {
  readonly text: string;
  readonly version: string;
}

export interface FolderFile extends FileContent {
  /** Relative to the folder. */
  readonly file: string;
}

function toVersion(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}

/** Reads a file. Rejects with a ToolError that says why it cannot be read, as for bytes that are no text. */
export async function readFileContent(path: string, name: string, limitBytes: number): Promise<FileContent> {
  const bytes = await readRegularFile(path, name, limitBytes);
  if (!isUtf8(bytes)) {
    throw ToolError.nonRetryable(`cannot read "${name}": it is not UTF-8 text; save it as UTF-8`);
  }
  // An editor must get what it saves again, with its byte order mark.
  return { text: bytes.toString('utf8'), version: toVersion(bytes) };
}

interface Target {
  /** The folder, all symbolic links followed. */
  readonly root: string;
  /** Relative to the folder, with `/`. */
  readonly file: string;
  readonly text: string;
  readonly id: string;
}

/**
 * Replaces a file, as a whole or not at all. Rejects with a FileChangedError when its content is not the expected version:
 * looked at last when all else is done, so that only what others write in the same moment can be lost.
 */
export async function replaceFile(target: Target, expected: string, limitBytes: number): Promise<string> {
  const path = await resolveInside(target);
  await assertVersion(path, target, expected, limitBytes);
  return withUnfinished(path, target, async (unfinished) => {
    await chmod(unfinished, (await stat(path)).mode & 0o777);
    await assertVersion(path, target, expected, limitBytes);
    await rename(unfinished, path);
  });
}

/** Creates a file. Rejects with a FileChangedError when there is one of its name, in whatever capitals. */
export async function createFile(target: Target): Promise<string> {
  const folder = join(target.root, dirname(target.file));
  try {
    // A link that leads out of the folder must not be followed to create a folder there.
    if (isPathInside(await realFolder(folder), target.root)) await makeFolders(folder);
  } catch (error) {
    throw cannotWrite(target, error);
  }
  const path = await resolveInside(target);
  const name = basename(path).toLowerCase();
  const taken = (await readdir(dirname(path))).find((other) => other.toLowerCase() === name);
  if (taken !== undefined) throw exists(target);
  return withUnfinished(path, target, async (unfinished) => {
    // Unlike renaming, this fails when there is such a file by now.
    await link(unfinished, path);
    await rm(unfinished, { force: true });
  });
}

/** Rejects with a FileChangedError when the content of a file is not the expected version. */
export async function assertVersion(
  path: string,
  { file }: Pick<Target, 'file'>,
  expected: string,
  limitBytes: number,
): Promise<void> {
  let version: string | null = null;
  try {
    ({ version } = await readFileContent(path, file, limitBytes));
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
  }
  if (version === expected) return;
  const what =
    version === null ? 'cannot be read, or is not there any more' : 'has changed since it was opened';
  throw new FileChangedError(`${file} ${what}: look at what it has now before you save`, version);
}

/** Resolves with the part of a path that is there, with all links followed. */
async function realFolder(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
    return realFolder(dirname(path));
  }
}

/** The path with all links of its folder followed: none may lead out of the folder, and the file may be none. */
async function resolveInside(target: Target): Promise<string> {
  try {
    const folder = await realpath(join(target.root, dirname(target.file)));
    // A link within the folder leads to the files of another tenant, as does another case of its name on some systems.
    if (folder === join(target.root, dirname(target.file))) return join(folder, basename(target.file));
  } catch (error) {
    throw cannotWrite(target, error);
  }
  throw new WavetrainError('forbidden', `${target.file} is not within the folder of SERVICE_PIPELINES`);
}

/** Writes a hidden file beside the one that it is to become, to the disk, and finishes it. */
async function withUnfinished(
  path: string,
  target: Target,
  finish: (unfinished: string) => Promise<void>,
): Promise<string> {
  const unfinished = join(dirname(path), `.${basename(path).slice(0, 100)}.${target.id}.tmp`);
  const bytes = Buffer.from(target.text, 'utf8');
  try {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const handle = await open(unfinished, flags, 0o666);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await finish(unfinished);
    return toVersion(bytes);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    if (error instanceof WavetrainError) throw error;
    throw errorCode(error) === 'EEXIST' ? exists(target) : cannotWrite(target, error);
  }
}

function exists({ file }: Target): FileChangedError {
  return new FileChangedError(`there is a file ${file} already: open it, or choose another id`, null);
}

function cannotWrite({ file }: Target, error: unknown): WavetrainError {
  return new WavetrainError('forbidden', `the server cannot write ${file}: ${describeErrno(error)}`, {
    fault: 'service',
    cause: error,
  });
}
