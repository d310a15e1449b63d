import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { errorCode, errorMessage, ToolError } from '../../common/errors.js';
import { decodeUtf8, describeErrno } from '../../common/files.js';
import { formatMebibytes } from '../../common/text.js';

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
  try {
    // Opening a device can already trigger it.
    assertRegular(await stat(real), displayPath);
    const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const opened = await handle.stat();
      assertRegular(opened, displayPath);
      await assertUnmoved(opened, real, displayPath);
      if (opened.size > limitBytes) throw sizeError(displayPath, limitBytes);
      return await readLimited(handle, limitBytes, displayPath);
    } finally {
      await handle.close();
    }
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
  const stream = handle.createReadStream({ end: limitBytes, autoClose: false, highWaterMark: 2 ** 18 });
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
