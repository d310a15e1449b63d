import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { errorCode, messageOf, WavetrainError } from '../../common/errors.js';
import type { CliContext } from '../context.js';

/** The name that stands for standard input (D41). */
export const STANDARD_INPUT = '-';

/** No file that the command line reads whole may be larger. */
const LARGEST_FILE = 64 * 1024 * 1024;

/**
 * The text of a file, or of standard input for `-`.
 *
 * @param what names the file in messages: `pipeline file`, `--inputs file`.
 * @throws WavetrainError `unreadable_file`, saying why and what to do.
 */
export async function readText(
  name: string,
  what: string,
  context: Pick<CliContext, 'cwd' | 'stdin'>,
): Promise<string> {
  const bytes =
    name === STANDARD_INPUT
      ? await readStream(context.stdin, 'standard input')
      : await readFile(name, what, context.cwd);
  return decode(bytes, name === STANDARD_INPUT ? 'standard input' : `the ${what} ${name}`);
}

async function readFile(name: string, what: string, cwd: string): Promise<Buffer> {
  try {
    const stream = createReadStream(resolve(cwd, name));
    return await readStream(stream, `the ${what} ${name}`);
  } catch (error) {
    throw error instanceof WavetrainError ? error : unreadable(name, what, error);
  }
}

/** Reads in pieces, for a pipe or a device does not say its size beforehand. */
async function readStream(stream: Readable, what: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const pieces: AsyncIterable<Uint8Array | string> = stream;
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece);
    size += bytes.length;
    if (size > LARGEST_FILE) throw tooLarge(what);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'you have no permission to read it',
  EPERM: 'you have no permission to read it',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its symbolic links lead in a circle',
};

/** Why a file could not be read or written, in words. */
export function reasonOf(error: unknown): string {
  const code = errorCode(error);
  return code === undefined ? messageOf(error) : (REASONS[code] ?? code);
}

function unreadable(name: string, what: string, error: unknown): WavetrainError {
  return new WavetrainError('unreadable_file', `cannot read the ${what} ${name}: ${reasonOf(error)}`, {
    cause: error,
  });
}

function tooLarge(what: string): WavetrainError {
  const limit = `${LARGEST_FILE / 1024 / 1024} MiB`;
  return new WavetrainError('unreadable_file', `${what} is larger than ${limit}, the most that is read`);
}

function decode(bytes: Buffer, what: string): string {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    throw new WavetrainError('unreadable_file', `${what} is UTF-16: save it as UTF-8`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new WavetrainError('unreadable_file', `${what} is not UTF-8 text`, { cause: error });
  }
}
