import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { errorCode, errorMessage, ToolError } from '../../common/errors.js';
import { decodeUtf8, describeErrno } from '../../common/files.js';
import { formatMebibytes } from '../../common/text.js';
import type { FileStream } from './access.js';

/**
 * Reads a regular file of at most `limitBytes`. Never blocks, as opening a named pipe would, and detects a symbolic
 * link that has replaced the file or a folder above it since `real` was resolved.
 *
 * @param real the path with all symbolic links followed
 * @throws ToolError, not retryable
 */
export async function readRegularFile(
  real: string,
  displayPath: string,
  limitBytes: number,
): Promise<Buffer> {
  return await describingFailures(displayPath, async () => {
    const { handle, size } = await openSafely(real, displayPath);
    try {
      if (size > limitBytes) throw sizeError(displayPath, limitBytes);
      return await readLimited(handle, limitBytes, displayPath);
    } finally {
      await handle.close();
    }
  });
}

/** Opens a regular file of any size, as {@link readRegularFile} does. @throws ToolError, not retryable */
export async function openRegularFile(real: string, displayPath: string): Promise<FileStream> {
  return await describingFailures(displayPath, async () => {
    const { handle, size, mtimeMs } = await openSafely(real, displayPath);
    await handle.close();
    return { size, modifiedMs: Math.floor(mtimeMs), pieces: readPieces(real, displayPath) };
  });
}

/** Opens the file again: nobody closes one that is never read. */
async function* readPieces(real: string, displayPath: string): AsyncGenerator<Uint8Array, undefined> {
  const { handle } = await describingFailures(displayPath, () => openSafely(real, displayPath));
  return yield* readOpened(handle);
}

const PIECE_BYTES = 2 ** 18;

/** Reads an opened file piece by piece, and closes it. */
export async function* readOpened(handle: FileHandle): AsyncGenerator<Uint8Array, undefined> {
  try {
    const stream = handle.createReadStream({ autoClose: false, highWaterMark: PIECE_BYTES });
    yield* stream as AsyncIterable<Buffer>;
  } finally {
    await handle.close();
  }
  return undefined;
}

type SafeFile = Pick<Stats, 'size' | 'mtimeMs'> & { readonly handle: FileHandle };

async function openSafely(real: string, displayPath: string): Promise<SafeFile> {
  // Opening a device can already trigger it.
  assertRegular(await stat(real), displayPath);
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const opened = await handle.stat();
    assertRegular(opened, displayPath);
    await assertUnmoved(opened, real, displayPath);
    return { handle, size: opened.size, mtimeMs: opened.mtimeMs };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function describingFailures<T>(displayPath: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw readError(displayPath, describeFailure(error));
  }
}

function assertRegular(found: Stats, displayPath: string): void {
  if (found.isFile()) return;
  if (found.isDirectory()) throw readError(displayPath, 'it is a folder: name a file in it');
  throw readError(displayPath, 'it is not a regular file, but a device, a pipe or a socket');
}

/** Checks that the path still leads to the opened file. */
async function assertUnmoved(opened: Stats, real: string, displayPath: string): Promise<void> {
  const now = await stat(real);
  if ((await realpath(real)) === real && now.ino === opened.ino && now.dev === opened.dev) return;
  throw readError(displayPath, REPLACED);
}

/** Limits the bytes read, since a file may grow, or report a smaller size than it has. */
async function readLimited(handle: FileHandle, limitBytes: number, displayPath: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const stream = handle.createReadStream({ end: limitBytes, autoClose: false, highWaterMark: PIECE_BYTES });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
  }
  if (length > limitBytes) throw sizeError(displayPath, limitBytes);
  return Buffer.concat(chunks, length);
}

function sizeError(displayPath: string, limitBytes: number): ToolError {
  return readError(displayPath, `it is larger than the limit of ${formatMebibytes(limitBytes)}`);
}

/** The path existed a moment ago, so these two codes mean that it has changed since. */
function describeFailure(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOENT') return 'it was removed while it was opened';
  return code === 'ELOOP' ? REPLACED : describeErrno(error);
}

const REPLACED = 'it was replaced while it was opened';

/**
 * Decodes UTF-8, with or without a byte order mark.
 *
 * @throws ToolError, not retryable, when the bytes are something else
 */
export function decodeText(bytes: Buffer, displayPath: string): string {
  try {
    return decodeUtf8(bytes);
  } catch (error) {
    throw readError(displayPath, errorMessage(error));
  }
}

/** Creates the error of a file that cannot be read; not retryable. */
export function readError(displayPath: string, reason: string): ToolError {
  return ToolError.nonRetryable(`cannot read "${displayPath}": ${reason}`);
}
