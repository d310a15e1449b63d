import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { errorCode, messageOf, ToolError } from '../../common/errors.js';

/**
 * Reads an ordinary file, at most `limitBytes` of it. Never waits for anybody, as a named pipe would make it, and
 * never follows a link that was put in place of the file or of a folder above it meanwhile.
 *
 * @param real the file's path with every link followed
 * @param asked the path to name in messages
 * @throws ToolError, not retryable
 */
export async function readRegularFile(real: string, asked: string, limitBytes: number): Promise<Buffer> {
  try {
    // Merely opening a device can set it off.
    refuseUnlessFile(await stat(real), asked);
    const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const opened = await handle.stat();
      refuseUnlessFile(opened, asked);
      await refuseIfMoved(opened, real, asked);
      if (opened.size > limitBytes) throw tooLarge(asked, limitBytes);
      return await readUpTo(handle, limitBytes, asked);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw cannotRead(asked, reasonOf(error));
  }
}

function refuseUnlessFile(found: Stats, asked: string): void {
  if (found.isFile()) return;
  if (found.isDirectory()) throw cannotRead(asked, 'it is a folder: name a file in it');
  throw cannotRead(asked, 'it is not an ordinary file, but a device, a pipe or a socket');
}

/** The path must still lead to what was opened. */
async function refuseIfMoved(opened: Stats, real: string, asked: string): Promise<void> {
  const now = await stat(real);
  if ((await realpath(real)) === real && now.ino === opened.ino && now.dev === opened.dev) return;
  throw cannotRead(asked, 'it was replaced while it was opened');
}

/** A file may be longer than it was a moment ago, or than it says. */
async function readUpTo(handle: FileHandle, limitBytes: number, asked: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const stream = handle.createReadStream({ end: limitBytes, autoClose: false, highWaterMark: 2 ** 18 });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
  }
  if (length > limitBytes) throw tooLarge(asked, limitBytes);
  return Buffer.concat(chunks, length);
}

function tooLarge(asked: string, limitBytes: number): ToolError {
  const limit = (limitBytes / 2 ** 20).toLocaleString('en', { maximumFractionDigits: 1 });
  return cannotRead(asked, `it is larger than the limit of ${limit} MiB`);
}

function reasonOf(error: unknown): string {
  const code = errorCode(error);
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  if (code === 'ENOENT') return 'it has gone';
  if (code === 'ELOOP') return 'it was replaced while it was opened';
  return code ?? messageOf(error);
}

/** Why a file is not read; no retry will mend it. */
export function cannotRead(asked: string, why: string): ToolError {
  return new ToolError(`cannot read "${asked}": ${why}`, { retryable: false });
}
